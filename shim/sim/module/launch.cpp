// SPDX-License-Identifier: Apache-2.0
// The rules of launches.
#include "module/launch.h"

#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "memory/address_space.h"
#include "module/function.h"
#include "ptx/interpreter.h"

namespace cufault::sim {

namespace {

void check_dimensions(const Function& function, const CUDA_KERNEL_NODE_PARAMS& params) {
  const Device& device = function.module->context->device;
  const auto limit = [&](unsigned value, CUdevice_attribute which) {
    require(value != 0 && value <= static_cast<unsigned>(device.attribute(which)));
  };
  limit(params.gridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  limit(params.gridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  limit(params.gridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  limit(params.blockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  limit(params.blockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  limit(params.blockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  const std::uint64_t threads = std::uint64_t{params.blockDimX} * params.blockDimY * params.blockDimZ;
  require(threads <= static_cast<std::uint64_t>(function.kernel->max_threads));
  require(params.sharedMemBytes <= static_cast<unsigned>(function.attributes.max_dynamic_shared));
}

// The parameter block from kernelParams or extra.
std::vector<unsigned char> arguments_of(const Function& function, void** params, void** extra) {
  const KernelImage& kernel = *function.kernel;
  require(params == nullptr || extra == nullptr);
  std::vector<unsigned char> bytes(kernel.parameter_bytes);
  if (extra == nullptr) {
    require(params != nullptr || kernel.parameters.empty());
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      require(params[i] != nullptr);
      std::memcpy(bytes.data() + kernel.parameters[i].offset, params[i], kernel.parameters[i].size);
    }
    return bytes;
  }
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const std::size_t*>(extra[1]);
    else
      refuse(CUDA_ERROR_INVALID_VALUE);
  }
  if (buffer == nullptr && size == nullptr) {
    require(kernel.parameters.empty());
    return bytes;
  }
  require(buffer != nullptr && size != nullptr);
  require(*size <= kernel.parameter_bytes, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  std::memcpy(bytes.data(), buffer, *size);
  return bytes;
}

void check_cluster(const Function& function, const CUDA_KERNEL_NODE_PARAMS& params, const unsigned (&wanted)[3], bool given) {
  const int(&fixed)[3] = function.attributes.cluster;
  const bool has_fixed = function.kernel->cluster[0] != 0;
  unsigned size[3] = {wanted[0], wanted[1], wanted[2]};
  if (!given) {
    if (function.kernel->cluster_must_be_set) require(has_fixed, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    if (!has_fixed) return;
    for (int i = 0; i < 3; ++i) size[i] = static_cast<unsigned>(fixed[i]);
  } else if (has_fixed) {
    for (int i = 0; i < 3; ++i) require(size[i] == static_cast<unsigned>(fixed[i]), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  }
  if (size[0] == 0 && size[1] == 0 && size[2] == 0) return;  // recorded: as if it were not there
  const auto good = [](bool holds) { require(holds, CUDA_ERROR_INVALID_CLUSTER_SIZE); };
  good(size[0] != 0 && size[1] != 0 && size[2] != 0);
  const std::uint64_t blocks = std::uint64_t{size[0]} * size[1] * size[2];
  good(blocks <= (function.attributes.non_portable != 0 ? 16u : 8u));
  good(params.gridDimX % size[0] == 0 && params.gridDimY % size[1] == 0 && params.gridDimZ % size[2] == 0);
}

}  // namespace

int blocks_per_multiprocessor(const Function& function, int block, std::size_t dynamic_shared) {
  const Device& device = function.module->context->device;
  if (block > device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return 0;
  if (dynamic_shared > static_cast<std::size_t>(function.attributes.max_dynamic_shared)) return 0;
  const int warps = (block + 31) / 32;
  int blocks = std::min(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                        device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32 / warps);
  const std::size_t shared = dynamic_shared + static_cast<std::size_t>(function.kernel->static_shared) +
                             static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  return std::min(blocks, static_cast<int>(static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)) / shared));
}

KernelWork kernel_work(Call& call, std::shared_ptr<Function> function, const CUDA_KERNEL_NODE_PARAMS& params,
                       const CUlaunchAttribute* attributes, unsigned count) {
  (void)call;
  check_dimensions(*function, params);
  KernelWork work;
  unsigned cluster[3] = {0, 0, 0};
  bool clustered = false, cooperative = false;
  require(attributes != nullptr || count == 0);
  for (unsigned i = 0; i < count; ++i) {
    const CUlaunchAttribute& attribute = attributes[i];
    work.attributes[static_cast<int>(attribute.id)] = attribute.value;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      clustered = true;
      cluster[0] = attribute.value.clusterDim.x;
      cluster[1] = attribute.value.clusterDim.y;
      cluster[2] = attribute.value.clusterDim.z;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = attribute.value.cooperative != 0;
  }
  check_cluster(*function, params, cluster, clustered);
  if (cooperative) {
    const int block = static_cast<int>(params.blockDimX * params.blockDimY * params.blockDimZ);
    const auto room = static_cast<std::uint64_t>(blocks_per_multiprocessor(*function, block, params.sharedMemBytes)) *
                      static_cast<std::uint64_t>(function->module->context->device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    require(std::uint64_t{params.gridDimX} * params.gridDimY * params.gridDimZ <= room, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  }
  work.arguments = arguments_of(*function, params.kernelParams, params.extra);
  work.params = params;
  work.params.kernelParams = nullptr;
  work.params.extra = nullptr;
  work.function = std::move(function);
  return work;
}

KernelWork kernel_work(Call& call, const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params != nullptr);
  const auto handle = params->func != nullptr ? params->func : reinterpret_cast<CUfunction>(params->kern);
  require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel_work(call, function_of(call, handle), *params, nullptr, 0);
}

std::function<void()> plan_kernel(Call& call, const KernelWork& kernel) {
  const ptx::Function* code = kernel.function->kernel->code;
  if (code == nullptr) {
    report_unmodelled(call.symbol, "a kernel without PTX: it does not compute");
    return {};
  }
  return [&driver = call.driver, symbol = call.symbol, kernel] {
    const Module& module = *kernel.function->module;
    ptx::Launch launch;
    launch.function = kernel.function->kernel->code;
    for (const auto& program : module.image->programs)
      if (launch.function >= program->functions.data() && launch.function < program->functions.data() + program->functions.size())
        launch.program = program.get();
    const auto& params = kernel.params;
    const unsigned grid[3] = {params.gridDimX, params.gridDimY, params.gridDimZ};
    const unsigned block[3] = {params.blockDimX, params.blockDimY, params.blockDimZ};
    std::copy(std::begin(grid), std::end(grid), std::begin(launch.grid));
    std::copy(std::begin(block), std::end(block), std::begin(launch.block));
    launch.dynamic_shared = params.sharedMemBytes;
    launch.arguments = &kernel.arguments;
    launch.address_of = [&](const std::string& name) -> std::uint64_t {
      const auto at = module.globals.find(name);
      return at == module.globals.end() ? 0 : at->second->base;
    };
    launch.memory = [&](std::uint64_t address, std::size_t size, bool write) -> unsigned char* {
      const auto allocation = driver.memory.find(address);
      if (allocation == nullptr || size > allocation->size - (address - allocation->base)) return nullptr;
      if (allocation->access == CU_MEM_ACCESS_FLAGS_PROT_NONE) return nullptr;
      if (write && allocation->access == CU_MEM_ACCESS_FLAGS_PROT_READ) return nullptr;
      return allocation->bytes(address);
    };
    const ptx::Result result = ptx::run(launch);
    switch (result.outcome) {
      case ptx::Outcome::done: break;
      case ptx::Outcome::illegal_address: driver.set_fault(CUDA_ERROR_ILLEGAL_ADDRESS); break;
      case ptx::Outcome::misaligned_address: driver.set_fault(CUDA_ERROR_MISALIGNED_ADDRESS); break;
      case ptx::Outcome::trap: driver.set_fault(CUDA_ERROR_LAUNCH_FAILED); break;
      case ptx::Outcome::unsupported:
        report_unmodelled(symbol, ("a kernel with the instruction " + result.text + ": it stops there").c_str());
        break;
    }
  };
}

}  // namespace cufault::sim

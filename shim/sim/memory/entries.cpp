// SPDX-License-Identifier: Apache-2.0
// Entry points: ordinary, pinned, registered and managed memory.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/address_space.h"
#include "memory/pool.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

constexpr unsigned kHostFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                                    CU_MEMHOSTREGISTER_READ_ONLY;

CUdeviceptr allocate(Call& call, const std::shared_ptr<Context>& context, std::size_t size) {
  refuse_unsafe(call);
  auto allocation = call.driver.memory.make(context->device, context, size, MemoryKind::device);
  const CUdeviceptr base = allocation->base;
  call.driver.memory.add(std::move(allocation));
  return base;
}

CUresult host_allocate(const char* symbol, void** out, size_t size, unsigned flags) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(out != nullptr && (flags & ~kHostFlags) == 0);
    refuse_unsafe(call);
    *out = nullptr;
    if (size == 0) return;
    auto allocation = AddressSpace::make_host(size, MemoryKind::pinned);
    allocation->context = context;
    allocation->life = context->life;
    // Recorded: every pinned block is mapped, whatever was asked for; PORTABLE is not given back.
    allocation->host_flags = CU_MEMHOSTALLOC_DEVICEMAP | (flags & CU_MEMHOSTALLOC_WRITECOMBINED);
    *out = reinterpret_cast<void*>(allocation->base);
    call.driver.memory.add(std::move(allocation));
  });
}

// A destroy call for memory: a current context that is gone answers for its memory.
std::shared_ptr<Allocation> to_free(Call& call, CUdeviceptr address) {
  if (const auto current = call.current_or_null()) require(current->alive(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  refuse_unsafe(call);
  auto allocation = call.driver.memory.at(address);
  if (allocation == nullptr)
    call.misuse(CUFAULT_MISUSE_FOREIGN_POINTER, reinterpret_cast<const void*>(address), "no allocation begins here");
  require(allocation != nullptr);
  return allocation;
}

}  // namespace

CUresult CUDAAPI cuMemGetInfo(size_t* free, size_t* total) {
  return api(__func__, kFaults, [&](Call& call) {
    const Device& device = call.current()->device;
    if (free != nullptr) *free = device.profile.total_memory - device.used_memory;
    if (total != nullptr) *total = device.profile.total_memory;
  });
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* out, size_t size) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(out != nullptr);
    *out = 0;
    require(size != 0);
    *out = allocate(call, context, size);
  });
}

CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned int element) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(out != nullptr && pitch != nullptr && width != 0 && height != 0);
    require(element == 4 || element == 8 || element == 16);
    constexpr std::size_t kPitch = 512;  // recorded: alloc_alignment
    require(width <= SIZE_MAX - kPitch, CUDA_ERROR_OUT_OF_MEMORY);
    const std::size_t row = (width + kPitch - 1) / kPitch * kPitch;
    require(height <= SIZE_MAX / row, CUDA_ERROR_OUT_OF_MEMORY);
    *out = allocate(call, context, row * height);
    *pitch = row;
  });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  return api(__func__, kFaults, [&](Call& call) {
    if (address == 0) return;
    const auto allocation = to_free(call, address);
    switch (allocation->kind) {
      case MemoryKind::device:
      case MemoryKind::managed:
      case MemoryKind::graph: break;
      case MemoryKind::pool:
        if (!allocation->pool->imported) allocation->pool->settle(allocation->size);
        break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
    call.driver.memory.remove(address);
    if (allocation->pool != nullptr) allocation->pool->give_back(allocation, {});
  });
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.current();
    if (base != nullptr) *base = 0;
    if (size != nullptr) *size = 0;
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr, CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = allocation->base;
    if (size != nullptr) *size = allocation->size;
  });
}

CUresult CUDAAPI cuMemAllocHost(void** out, size_t size) { return host_allocate(__func__, out, size, 0); }

CUresult CUDAAPI cuMemHostAlloc(void** out, size_t size, unsigned int flags) { return host_allocate(__func__, out, size, flags); }

CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  return api(__func__, kFaults, [&](Call& call) {
    if (pointer == nullptr) return;
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const auto allocation = to_free(call, address);
    require(allocation->kind == MemoryKind::pinned);
    call.driver.memory.remove(address);
  });
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr* out, void* pointer, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && pointer != nullptr && flags == 0);
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr && (allocation->kind == MemoryKind::pinned || allocation->kind == MemoryKind::registered));
    *out = address;
  });
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.current();
    require(flags != nullptr && pointer != nullptr);
    const auto allocation = call.driver.memory.find(reinterpret_cast<CUdeviceptr>(pointer));
    require(allocation != nullptr && (allocation->kind == MemoryKind::pinned || allocation->kind == MemoryKind::registered));
    *flags = allocation->host_flags;
  });
}

CUresult CUDAAPI cuMemHostRegister(void* pointer, size_t size, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(pointer != nullptr && size != 0 && (flags & ~kRegisterFlags) == 0);
    refuse_unsafe(call);
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    require(!call.driver.memory.overlaps(address, size), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    auto allocation = std::make_shared<Allocation>(address, size, MemoryKind::registered);
    allocation->context = context;
    allocation->life = context->life;
    allocation->host_flags = CU_MEMHOSTALLOC_DEVICEMAP;
    call.driver.memory.add(std::move(allocation));
  });
}

CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(pointer != nullptr);
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const auto allocation = call.driver.memory.at(address);
    require(allocation != nullptr, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    require(allocation->kind == MemoryKind::registered);  // recorded (vmm_range_rows)
    call.driver.memory.remove(address);
  });
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(out != nullptr && size != 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
    refuse_unsafe(call);
    auto allocation = call.driver.memory.make(context->device, context, size, MemoryKind::managed);
    allocation->sync_memops = true;  // recorded: pointer_attributes
    *out = allocation->base;
    call.driver.memory.add(std::move(allocation));
  });
}

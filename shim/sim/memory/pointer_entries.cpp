// SPDX-License-Identifier: Apache-2.0
// Entry points: attributes of pointers (recorded: pointer_attributes*).
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "memory/address_space.h"
#include "memory/pool.h"
#include "vmm/reservation.h"

using namespace cufault::sim;

namespace {

constexpr std::size_t kBlock = std::size_t{2} << 20;   // what the recorded driver maps at once
constexpr std::size_t kPoolBlock = std::size_t{32} << 20;
constexpr std::size_t kPage = 4096;

bool host_memory(const Allocation& allocation) {
  return allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
}

std::size_t mapping_size(const Allocation& allocation) {
  const auto round = [&](std::size_t step) { return (allocation.size + step - 1) / step * step; };
  switch (allocation.kind) {
    case MemoryKind::registered: return round(kPage);
    case MemoryKind::pool: return round(kPoolBlock);
    default: return round(kBlock);
  }
}

template <class T>
void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}

CUcontext context_of(const Allocation& allocation) {
  return allocation.context == nullptr ? nullptr : allocation.context->handle();
}

void get(void* out, CUpointer_attribute attribute, const Allocation& allocation, CUdeviceptr address) {
  const bool ordinary = allocation.kind == MemoryKind::device;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: put(out, context_of(allocation)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: put<unsigned>(out, host_memory(allocation) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: put(out, address); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      put<void*>(out, allocation.host_visible() ? reinterpret_cast<void*>(address) : nullptr);
      require(allocation.host_visible());
      break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: refuse(CUDA_ERROR_INVALID_VALUE);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: put(out, allocation.sync_memops); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: put<unsigned long long>(out, allocation.id); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: put(out, allocation.kind == MemoryKind::managed); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      put<int>(out, allocation.device != nullptr    ? allocation.device->ordinal
                    : allocation.context != nullptr ? allocation.context->device.ordinal
                    : allocation.pool != nullptr    ? allocation.pool->device.ordinal
                                                    : 0);
      break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: put(out, ordinary); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      put(out, allocation.kind == MemoryKind::mapped ? reservations().find(address).first : allocation.base);
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      put(out, allocation.kind == MemoryKind::mapped ? reservations().find(address).second : allocation.size);
      break;
    case CU_POINTER_ATTRIBUTE_MAPPED: put(out, true); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      put<unsigned long long>(out, allocation.pool != nullptr ? static_cast<unsigned long long>(allocation.pool->props.handleTypes) : 0);
      break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: put(out, ordinary); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: put(out, allocation.access); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: put(out, allocation.pool == nullptr ? nullptr : allocation.pool->handle()); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: put(out, mapping_size(allocation)); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: put(out, allocation.base); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: put<unsigned long long>(out, allocation.id); break;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: put(out, ordinary); break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

// What cuPointerGetAttributes gives for an address that the driver does not know.
void get_unknown(void* out, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: put<unsigned>(out, 0); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put<int>(out, -2); break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: put<void*>(out, nullptr); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: put<CUdeviceptr>(out, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: put<unsigned long long>(out, 0); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: put<unsigned>(out, 0); break;
    default: put(out, false); break;
  }
}

bool known(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT && attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;
}

}  // namespace

CUresult CUDAAPI cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && known(attribute));
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr);
    get(out, attribute, *allocation, address);
  });
}

CUresult CUDAAPI cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** out, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != 0 && attributes != nullptr && out != nullptr);
    for (unsigned i = 0; i < count; ++i) require(known(attributes[i]) && out[i] != nullptr);
    const auto allocation = call.driver.memory.find(address);
    for (unsigned i = 0; i < count; ++i) {
      if (allocation == nullptr)
        get_unknown(out[i], attributes[i]);
      else if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && !allocation->host_visible())
        put<void*>(out[i], nullptr);
      else
        get(out[i], attributes[i], *allocation, address);
    }
  });
}

CUresult CUDAAPI cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr);
    unsigned wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    allocation->sync_memops = wanted != 0;
  });
}

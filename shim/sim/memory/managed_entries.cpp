// SPDX-License-Identifier: Apache-2.0
// Entry points: advice, prefetching and attachment of managed memory (recorded: managed_memory).
#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/address_space.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

std::shared_ptr<Allocation> managed(Call& call, CUdeviceptr address, std::size_t size) {
  const auto allocation = call.driver.memory.find(address);
  require(allocation != nullptr && allocation->kind == MemoryKind::managed);
  require(size != 0 && size <= allocation->size - (address - allocation->base));
  return allocation;
}

bool host_location(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_HOST || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

// Where a location points to, as attributes give it: a device, or CU_DEVICE_CPU.
int ordinal_of(const CUmemLocation& location) { return host_location(location) ? CU_DEVICE_CPU : location.id; }

void range_attribute(Call& call, void* out, std::size_t size, CUmem_range_attribute attribute, const Allocation& allocation) {
  (void)call;
  require(out != nullptr && size != 0);
  const ManagedAdvice& advice = allocation.advice;
  const auto put = [&](int value) {
    require(size == sizeof value);
    std::memcpy(out, &value, sizeof value);
  };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: put(advice.read_mostly ? 1 : 0); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: put(advice.preferred.type == 0 ? CU_DEVICE_INVALID : ordinal_of(advice.preferred)); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: put(advice.prefetched.type == 0 ? CU_DEVICE_INVALID : ordinal_of(advice.prefetched)); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: put(static_cast<int>(advice.preferred.type)); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: put(advice.preferred.id); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: put(static_cast<int>(advice.prefetched.type)); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: put(advice.prefetched.id); break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      require(size % sizeof(int) == 0);
      std::vector<int> devices(advice.accessed_by.begin(), advice.accessed_by.end());
      devices.resize(size / sizeof(int), CU_DEVICE_INVALID);
      std::memcpy(out, devices.data(), size);
      break;
    }
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUmemLocation location, unsigned int flags, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(flags == 0);
    const auto allocation = managed(call, address, size);
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      (void)call.driver.device(location.id);
    else
      require(host_location(location));
    refuse_on_capturing(call, *stream);
    allocation->advice.prefetched = location;
  });
}

CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUmemLocation location) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto allocation = managed(call, address, size);
    const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    require(on_device ? location.id >= 0 && static_cast<std::size_t>(location.id) < call.driver.device_count() : host_location(location));
    ManagedAdvice& own = allocation->advice;
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: own.read_mostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: own.read_mostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: own.preferred = location; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: own.preferred = {}; break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: own.accessed_by.insert(ordinal_of(location)); break;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY: own.accessed_by.erase(ordinal_of(location)); break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult CUDAAPI cuMemRangeGetAttribute(void* out, size_t out_size, CUmem_range_attribute attribute, CUdeviceptr address, size_t size) {
  return api(__func__, kFaults, [&](Call& call) {
    range_attribute(call, out, out_size, attribute, *managed(call, address, size));
  });
}

CUresult CUDAAPI cuMemRangeGetAttributes(void** out, size_t* sizes, CUmem_range_attribute* attributes, size_t count, CUdeviceptr address,
                                         size_t size) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && sizes != nullptr && attributes != nullptr && count != 0);
    const auto allocation = managed(call, address, size);
    for (std::size_t i = 0; i < count; ++i) range_attribute(call, out[i], sizes[i], attributes[i], *allocation);
  });
}

CUresult CUDAAPI cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t size, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    refuse_on_capturing(call, *stream);
    const auto allocation = call.driver.memory.at(address);
    require(allocation != nullptr && allocation->kind == MemoryKind::managed && (size == 0 || size == allocation->size));
    if (flags == 0) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, reinterpret_cast<const void*>(address), "attachment flags of 0");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
    require(flags != CU_MEM_ATTACH_SINGLE || stream->role == Stream::Role::created);
  });
}

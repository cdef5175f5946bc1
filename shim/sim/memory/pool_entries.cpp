// SPDX-License-Identifier: Apache-2.0
// Entry points: memory pools and allocation in order of a stream.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/pool.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

// The device whose pools serve a location; refuses with INVALID_VALUE.
Device& device_for(Call& call, const CUmemLocation& location, CUmemAllocationType type) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      require(location.id >= 0 && static_cast<std::size_t>(location.id) < call.driver.device_count());
      return call.driver.device(location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return call.driver.device(0);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: require(location.id >= 0); return call.driver.device(0);
    case CU_MEM_LOCATION_TYPE_NONE: require(type == CU_MEM_ALLOCATION_TYPE_MANAGED); return call.driver.device(0);
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

// Default and current pools of locations and types other than a device's own. Guarded by the driver's lock.
struct PlacePools {
  std::shared_ptr<Pool> standard, current;
};
PlacePools& pools_of(Call& call, const CUmemLocation& location, CUmemAllocationType type) {
  static auto& all = *new std::map<std::tuple<int, int, int>, PlacePools>;
  PlacePools& own = all[{static_cast<int>(type), static_cast<int>(location.type), location.id}];
  if (own.standard == nullptr) {
    CUmemPoolProps props{};
    props.allocType = type;
    props.location = location;
    own.standard = own.current = Pool::make(device_for(call, location, type), props);
    own.standard->is_default = true;
  }
  return own;
}

// The slot that holds the current pool of a place.
std::shared_ptr<Pool>& current_pool(Call& call, const CUmemLocation* location, CUmemAllocationType type) {
  require(location != nullptr && (type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED));
  if (type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE)
    return device_for(call, *location, type).current_pool;
  return pools_of(call, *location, type).current;
}

void allocate(Call& call, CUdeviceptr* out, std::size_t size, const std::shared_ptr<Stream>& stream, Pool* pool) {
  if (capturing(*stream)) {
    capture_allocation(call, *stream, out, size, pool);
    return;
  }
  refuse_unsafe(call);
  *out = 0;
  if (size == 0) return;
  if (pool == nullptr) pool = stream->context->device.current_pool.get();
  *out = pool->allocate(call.driver, size, stream)->base;
}

}  // namespace

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* props) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && props != nullptr);
    refuse_unsafe(call);
    require(props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED || props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED);
    constexpr unsigned kHandles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    require((static_cast<unsigned>(props->handleTypes) & ~kHandles) == 0);
    // A byte that was reserved until 13.5.
    require(props->gpuDirectRDMACapable == 0 || call.driver.configuration().driver_version >= 13050);
    require(std::all_of(std::begin(props->reserved), std::end(props->reserved), [](unsigned char byte) { return byte == 0; }));
    *out = Pool::make(device_for(call, props->location, props->allocType), *props)->handle();
  });
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool handle) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto pool = call.doomed<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(!pool->is_default);
    for (std::size_t i = 0; i < call.driver.device_count(); ++i) {
      Device& device = call.driver.device(static_cast<CUdevice>(i));
      if (device.current_pool == pool) device.current_pool = device.default_pool;
    }
    call.destroy<Pool>(handle, CUDA_ERROR_INVALID_VALUE);  // memory taken from it stays usable
  });
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(!pool->imported);
    const auto put = [&](auto answer) { std::memcpy(value, &answer, sizeof answer); };
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: put(pool->follow_events); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: put(pool->opportunistic); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: put(pool->internal_dependencies); break;
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: put(pool->threshold); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: put(pool->reserved); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: put(pool->reserved_high); break;
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: put(pool->used); break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH: put(pool->used_high); break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);  // recorded for 9, which a newer header knows
    }
  });
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(!pool->imported);
    if (value == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, handle, "a null value");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    const auto flag = [&] {
      int wanted = 0;
      std::memcpy(&wanted, value, sizeof wanted);
      return wanted != 0 ? 1 : 0;
    };
    const auto number = [&] {
      cuuint64_t wanted = 0;
      std::memcpy(&wanted, value, sizeof wanted);
      return wanted;
    };
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: pool->follow_events = flag(); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: pool->opportunistic = flag(); break;
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: pool->internal_dependencies = flag(); break;
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = number(); break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        require(number() == 0);
        pool->reserved_high = pool->reserved;
        break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        require(number() == 0);
        pool->used_high = pool->used;
        break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(!pool->imported);
    refuse_unsafe(call);
    pool->trim(keep);
  });
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* list, size_t count) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(list != nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      const CUmemAccessDesc& wanted = list[i];
      require(wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
              wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      // Recorded (args_pool_vmm, pool_access_rows).
      if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        require(pool->host() && wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CUDA_ERROR_NOT_SUPPORTED);
      else {
        (void)call.driver.device(wanted.location.id);
        require(wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READ, CUDA_ERROR_NOT_SUPPORTED);
        const bool owner = !pool->host() && wanted.location.id == pool->device.ordinal;
        require(!owner || wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, CUDA_ERROR_INVALID_DEVICE);
        if (!owner) pool->access[wanted.location.id] = wanted.flags;
      }
    }
  });
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr && location != nullptr);
    const auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      *flags = pool->host() ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
      return;
    }
    require(location->id >= 0 && static_cast<std::size_t>(location->id) < call.driver.device_count());
    const auto set = pool->access.find(location->id);
    const bool owner = !pool->host() && location->id == pool->device.ordinal;
    *flags = owner                       ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : set != pool->access.end() ? set->second
                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.driver.device(dev).default_pool->handle();
  });
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* out, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    require(dev >= 0 && static_cast<std::size_t>(dev) < call.driver.device_count());  // recorded: not INVALID_DEVICE
    *out = call.driver.device(dev).current_pool->handle();
  });
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle) {
  return api(__func__, kPlain, [&](Call& call) {
    auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    require(dev >= 0 && static_cast<std::size_t>(dev) < call.driver.device_count());
    require(!pool->imported && !pool->host() && pool->device.ordinal == dev);
    call.driver.device(dev).current_pool = std::move(pool);
  });
}

CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    (void)current_pool(call, location, type);
    const bool own = type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    *out = (own ? device_for(call, *location, type).default_pool : pools_of(call, *location, type).standard)->handle();
  });
}

CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = current_pool(call, location, type)->handle();
  });
}

CUresult CUDAAPI cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
  return api(__func__, kPlain, [&](Call& call) {
    auto pool = call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Pool>& slot = current_pool(call, location, type);
    require(!pool->imported && pool->props.allocType == type && pool->props.location.type == location->type);
    slot = std::move(pool);
  });
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* out, size_t size, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(out != nullptr);
    allocate(call, out, size, stream, nullptr);
  });
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool_handle, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(out != nullptr);
    const auto pool = call.use<Pool>(pool_handle, CUDA_ERROR_INVALID_VALUE);
    require(!pool->imported);
    allocate(call, out, size, stream, pool.get());
  });
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    if (address == 0) return;
    if (capturing(*stream)) {
      capture_free(call, *stream, address);
      return;
    }
    auto allocation = call.driver.memory.at(address);
    require(allocation != nullptr);
    require(allocation->kind != MemoryKind::managed, CUDA_ERROR_NOT_SUPPORTED);
    require(allocation->kind == MemoryKind::pool || allocation->kind == MemoryKind::device ||
            allocation->kind == MemoryKind::graph);
    call.driver.memory.remove(address);
    Operation operation;
    operation.run = [allocation] {
      if (allocation->pool != nullptr && !allocation->pool->imported) allocation->pool->settle(allocation->size);
    };
    const Point point = submit(call.driver, stream, std::move(operation));
    if (allocation->pool != nullptr) allocation->pool->give_back(allocation, point);
  });
}

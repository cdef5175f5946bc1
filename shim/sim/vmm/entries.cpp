// SPDX-License-Identifier: Apache-2.0
// Entry points: virtual memory management (recorded: vmm_*).
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "memory/address_space.h"
#include "vmm/reservation.h"

using namespace cufault::sim;

namespace {

const void* as_handle(CUmemGenericAllocationHandle number) { return reinterpret_cast<const void*>(number); }

CUmemGenericAllocationHandle keep(Call& call, std::shared_ptr<VmmAllocation> made) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(call.driver.handles->insert(Kind::vmm_allocation, std::move(made)));
}

std::shared_ptr<VmmAllocation> physical_of(Call& call, CUmemGenericAllocationHandle number) {
  return call.use<VmmAllocation>(as_handle(number), CUDA_ERROR_INVALID_VALUE);
}

// The mappings inside a range; refuses with INVALID_VALUE if one sticks out.
std::vector<std::shared_ptr<Allocation>> mappings_in(Call& call, CUdeviceptr base, std::size_t size) {
  std::vector<std::shared_ptr<Allocation>> found;
  std::vector<CUdeviceptr> bases;
  call.driver.memory.for_each([&](const Allocation& allocation) {
    if (allocation.kind != MemoryKind::mapped) return;
    if (allocation.base + allocation.size <= base || allocation.base >= base + size) return;
    require(allocation.base >= base && allocation.base + allocation.size <= base + size);
    bases.push_back(allocation.base);
  });
  for (const CUdeviceptr at : bases) found.push_back(call.driver.memory.at(at));
  return found;
}

}  // namespace

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* out, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call;
    require(out != nullptr && flags == 0 && size != 0 && size % kGranularity == 0);
    require((alignment & (alignment - 1)) == 0 || alignment == 0);
    require(hint % 4096 == 0);
    *out = reservations().reserve(size, std::max(alignment, kGranularity), hint);
  });
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr base, size_t size) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto [own, length] = reservations().find(base);
    require(length != 0 && own == base && length == size);
    require(!call.driver.memory.overlaps(base, size));
    require(reservations().release(base, size));
  });
}

CUresult CUDAAPI cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* props, CUmemAllocationGranularity_flags option) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call;
    require(out != nullptr && props != nullptr && static_cast<unsigned>(option) <= CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    *out = kGranularity;
  });
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* out, size_t size, const CUmemAllocationProp* props, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && props != nullptr && flags == 0 && size != 0 && size % kGranularity == 0);
    require(props->type == CU_MEM_ALLOCATION_TYPE_PINNED);
    require(props->requestedHandleTypes != CU_MEM_HANDLE_TYPE_WIN32 && props->requestedHandleTypes != CU_MEM_HANDLE_TYPE_WIN32_KMT);
    require(props->allocFlags.compressionType <= CU_MEM_ALLOCATION_COMP_GENERIC);
    require(std::all_of(std::begin(props->allocFlags.reserved), std::end(props->allocFlags.reserved), [](auto byte) { return byte == 0; }));
    Device* device = nullptr;
    switch (props->location.type) {
      case CU_MEM_LOCATION_TYPE_DEVICE: device = &call.driver.device(props->location.id); break;
      case CU_MEM_LOCATION_TYPE_HOST:
      case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
    if (device != nullptr)
      require(size <= device->profile.total_memory - device->used_memory, CUDA_ERROR_OUT_OF_MEMORY);
    auto made = std::make_shared<VmmAllocation>();
    made->fd = make_memory_file(size, *props);
    made->size = size;
    made->props = *props;
    made->device = device;
    if (device != nullptr) device->used_memory += size;
    *out = keep(call, std::move(made));
  });
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle number) {
  return api(__func__, kPlain, [&](Call& call) {
    call.destroy<VmmAllocation>(as_handle(number), CUDA_ERROR_INVALID_VALUE);  // mappings keep the memory
  });
}

CUresult CUDAAPI cuMemMap(CUdeviceptr base, size_t size, size_t offset, CUmemGenericAllocationHandle number, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags == 0 && size != 0 && base != 0);
    const auto physical = physical_of(call, number);
    require(base % kGranularity == 0 && reservations().find(base).second != 0);
    // Recorded (vmm_map): only the whole of a handle; where the range ends is not checked against the reservation.
    require(offset == 0 && size == physical->size, CUDA_ERROR_NOT_SUPPORTED);
    require(reservations().holds(base, size) && !call.driver.memory.overlaps(base, size));
    void* where = mmap(reinterpret_cast<void*>(base), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->fd, 0);
    require(where != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    auto allocation = std::make_shared<Allocation>(base, size, MemoryKind::mapped);
    allocation->physical = physical;
    allocation->access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    call.driver.memory.add(std::move(allocation));
  });
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr base, size_t size) {
  return api(__func__, kPlain, [&](Call& call) {
    require(base != 0 && size != 0 && base % kGranularity == 0 && size % kGranularity == 0);
    require(reservations().find(base).second != 0);
    for (const auto& mapping : mappings_in(call, base, size)) {
      call.driver.memory.remove(mapping->base);
      mmap(reinterpret_cast<void*>(mapping->base), mapping->size, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }
  });
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr base, size_t size, const CUmemAccessDesc* list, size_t count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(base != 0 && size != 0 && list != nullptr && count != 0);
    require(base % kGranularity == 0 && size % kGranularity == 0);
    const auto mappings = mappings_in(call, base, size);
    std::size_t covered = 0;
    for (const auto& mapping : mappings) covered += mapping->size;
    require(covered == size);
    for (std::size_t i = 0; i < count; ++i) {
      require(list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
              list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      if (list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        (void)call.driver.device(list[i].location.id);
        for (const auto& mapping : mappings) mapping->access = list[i].flags;
      }
    }
  });
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr && location != nullptr);
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr);
    *flags = static_cast<unsigned long long>(allocation->access);
  });
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out, CUmemGenericAllocationHandle number) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = physical_of(call, number)->props;
  });
}

CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && address != nullptr);
    const auto allocation = call.driver.memory.find(reinterpret_cast<CUdeviceptr>(address));
    require(allocation != nullptr && allocation->physical != nullptr);
    *out = keep(call, allocation->physical);
  });
}

CUresult CUDAAPI cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle number, CUmemAllocationHandleType type,
                                              unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && flags == 0);
    const auto physical = physical_of(call, number);
    require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    require((physical->props.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0);
    const int fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
    require(fd >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *static_cast<int*>(out) = fd;
  });
}

CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* shared, CUmemAllocationHandleType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    auto made = std::make_shared<VmmAllocation>();
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shared));
    require(read_memory_file(fd, made->size, made->props), CUDA_ERROR_UNKNOWN);
    made->props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;  // recorded (ipc_vmm): an import cannot be exported again
    made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    require(made->fd >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *out = keep(call, std::move(made));
  });
}

CUresult CUDAAPI cuMemGetHandleForAddressRange(void* out, CUdeviceptr address, size_t size, CUmemRangeHandleType type, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && flags <= CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE);
    require(address % 4096 == 0 && size % 4096 == 0 && size != 0 && call.driver.memory.find(address) != nullptr);
    call.unmodelled("DMA buffers");
  });
}

// SPDX-License-Identifier: Apache-2.0
// Device and pinned memory, and memory pools.
#include "cufault/handles/memory.h"

#include <stdexcept>

#include "cufault/handles/deferred.h"
#include "cufault/handles/scope.h"

namespace cufault::handles {
namespace {

constexpr const char* memory_leaked = "the memory is leaked";
constexpr const char* free_skipped = "the memory was not freed and is leaked, its context could not be entered";

CUcontext raw_of(const shared<context>& in) noexcept { return in ? in->raw() : nullptr; }

void* host_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

unique<memory_pool> memory_pool::create(const CUmemPoolProps& properties) {
  drain_deferred();
  unique<memory_pool> made(new memory_pool(true));
  CUmemoryPool raw = nullptr;
  call(driver().cuMemPoolCreate, &raw, &properties);
  made->raw_ = raw;
  return made;
}

unique<memory_pool> memory_pool::current_of(CUdevice device) {
  unique<memory_pool> made(new memory_pool(false));
  call(driver().cuDeviceGetMemPool, &made->raw_, device);
  return made;
}

unique<memory_pool> memory_pool::import_from(void* shareable, CUmemAllocationHandleType type) {
  drain_deferred();
  unique<memory_pool> made(new memory_pool(true));
  CUmemoryPool raw = nullptr;
  call(driver().cuMemPoolImportFromShareableHandle, &raw, shareable, type, cuuint64_t{0});
  made->raw_ = raw;
  return made;
}

void memory_pool::grant_access(const std::vector<CUdevice>& devices) {
  std::vector<CUmemAccessDesc> wanted;
  for (const CUdevice device : devices) {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    wanted.push_back(access);
  }
  granted_.reserve(granted_.size() + wanted.size());
  call(driver().cuMemPoolSetAccess, raw_, wanted.data(), wanted.size());
  granted_.insert(granted_.end(), wanted.begin(), wanted.end());
}

std::uint64_t memory_pool::attribute(CUmemPool_attribute which) const {
  cuuint64_t value = 0;
  call(driver().cuMemPoolGetAttribute, raw_, which, static_cast<void*>(&value));
  return value;
}

void memory_pool::destroy(cleanup& failures) noexcept {
  const CUmemoryPool raw = std::exchange(raw_, nullptr);
  if (raw == nullptr || !owned_) {
    return;
  }
  const driver_table& table = *loaded_driver();
  if (!granted_.empty()) {
    for (CUmemAccessDesc& access : granted_) {
      access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    failures.call("devices keep their access to the pool until it is gone", table.cuMemPoolSetAccess, as_number(raw),
                  raw, granted_.data(), granted_.size());
  }
  failures.call("the memory pool is leaked", table.cuMemPoolDestroy, as_number(raw), raw);
}

buffer::buffer(free_call freed_by, shared<context> in, shared<stream> on, shared<memory_pool> from,
               std::size_t size) noexcept
    : freed_by_(freed_by),
      context_(std::move(in)),
      pool_(std::move(from)),
      stream_(std::move(on)),
      stream_thread_(std::this_thread::get_id()),
      size_(size) {}

unique<buffer> buffer::allocate(const shared<context>& in, std::size_t size) {
  unique<buffer> made(new buffer(free_call::cuMemFree, in, {}, {}, size));
  run_or_undo_in_context(
      in->raw(),
      [&] {
        CUdeviceptr address = 0;
        call(driver().cuMemAlloc, &address, size);
        made->address_ = address;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<buffer> buffer::allocate_managed(const shared<context>& in, std::size_t size, unsigned flags) {
  unique<buffer> made(new buffer(free_call::cuMemFree, in, {}, {}, size));
  run_or_undo_in_context(
      in->raw(),
      [&] {
        CUdeviceptr address = 0;
        call(driver().cuMemAllocManaged, &address, size, flags);
        made->address_ = address;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<buffer> buffer::import_pointer(const shared<context>& in, const shared<stream>& on,
                                      const shared<memory_pool>& from, CUmemPoolPtrExportData& exported,
                                      std::size_t size) {
  unique<buffer> made(new buffer(free_call::cuMemFreeAsync, in, on, from, size));
  run_or_undo_in_context(
      in->raw(),
      [&] {
        CUdeviceptr address = 0;
        call(driver().cuMemPoolImportPointer, &address, from->raw(), &exported);
        made->address_ = address;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<buffer> buffer::adopt(const shared<user_memory>& from, const shared<stream>& on, CUdeviceptr address,
                             std::size_t size) {
  unique<buffer> made(new buffer(free_call::user, {}, on, {}, size));
  made->user_ = from;
  made->address_ = address;
  return made;
}

unique<buffer> buffer::allocate_pinned(const shared<context>& in, std::size_t size) {
  unique<buffer> made(new buffer(free_call::cuMemFreeHost, in, {}, {}, size));
  run_or_undo_in_context(
      raw_of(in),
      [&] {
        void* address = nullptr;
        call(driver().cuMemAllocHost, &address, size);
        made->address_ = as_number(address);
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<buffer> buffer::allocate_async(const shared<context>& in, const shared<stream>& on, std::size_t size,
                                      const shared<memory_pool>& from) {
  unique<buffer> made(new buffer(free_call::cuMemFreeAsync, in, on, from, size));
  run_or_undo_in_context(
      in->raw(),
      [&] {
        CUdeviceptr address = 0;
        if (from) {
          call(driver().cuMemAllocFromPoolAsync, &address, size, from->raw(), on->raw());
        } else {
          call(driver().cuMemAllocAsync, &address, size, on->raw());
        }
        made->address_ = address;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

void buffer::fill(unsigned char value, const stream& on) const {
  run_in_context(on.is_default() ? raw_of(context_) : nullptr,
                 [&] { call(driver().cuMemsetD8Async, address_, value, size_, on.raw()); });
}

void buffer::copy_to(const buffer& destination, const stream& on) const {
  run_in_context(on.is_default() ? raw_of(context_) : nullptr,
                 [&] { call(driver().cuMemcpyAsync, destination.address_, address_, size_, on.raw()); });
}

void buffer::set_deallocation_stream(shared<stream> on) noexcept {
  stream_ = std::move(on);
  stream_thread_ = std::this_thread::get_id();
}

void buffer::free_async(cleanup& failures) noexcept {
  const driver_table& table = *loaded_driver();
  const CUdeviceptr address = std::exchange(address_, 0);
  CUstream on = stream_->raw();
  if (!stream_->is_default()) {
    failures.call(memory_leaked, table.cuMemFreeAsync, address, address, on);
    return;
  }
  // A token stands for the default stream of the current context, and CU_STREAM_PER_THREAD for the calling thread's: on
  // another thread the legacy stream, which waits for every blocking stream of the context, orders the free after it.
  if (on == CU_STREAM_PER_THREAD && stream_thread_ != std::this_thread::get_id()) {
    on = CU_STREAM_LEGACY;
  }
  failures.call_in_context(context_->raw(), memory_leaked, free_skipped, table.cuMemFreeAsync, address, address, on);
}

void buffer::destroy(cleanup& failures) noexcept {
  if (address_ == 0) {
    return;
  }
  const driver_table& table = *loaded_driver();
  switch (freed_by_) {
    case free_call::cuMemFree: {
      const CUdeviceptr address = std::exchange(address_, 0);
      failures.call(memory_leaked, table.cuMemFree, address, address);
      break;
    }
    case free_call::cuMemFreeHost: {
      const CUdeviceptr address = std::exchange(address_, 0);
      failures.call(memory_leaked, table.cuMemFreeHost, address, host_pointer(address));
      break;
    }
    case free_call::cuMemFreeAsync:
      free_async(failures);
      break;
    case free_call::user:
      user_->deallocate(std::exchange(address_, 0), size_, stream_);
      break;
  }
}

void free_now(free_call how, CUdeviceptr address, view<stream> on, CUcontext in) {
  switch (how) {
    case free_call::cuMemFree:
      call(driver().cuMemFree, address);
      break;
    case free_call::cuMemFreeHost:
      call(driver().cuMemFreeHost, host_pointer(address));
      break;
    case free_call::cuMemFreeAsync:
      run_in_context(on->is_default() ? in : nullptr, [&] { call(driver().cuMemFreeAsync, address, on->raw()); });
      break;
    case free_call::user:
      throw std::invalid_argument("memory of a user's resource is freed by that resource");
  }
}

}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Device and pinned memory, and the pools it may come from.
#ifndef CUFAULT_HANDLES_MEMORY_H
#define CUFAULT_HANDLES_MEMORY_H

#include <cstddef>
#include <thread>

#include "cufault/handles/stream.h"

namespace cufault::handles {

// A memory pool: owned, or the device's own, which nobody destroys.
class memory_pool final : public resource {
 public:
  [[nodiscard]] static unique<memory_pool> create(const CUmemPoolProps& properties);
  // The pool that cuMemAllocAsync uses on `device`.
  [[nodiscard]] static unique<memory_pool> current_of(CUdevice device);

  [[nodiscard]] CUmemoryPool raw() const noexcept { return raw_; }
  [[nodiscard]] bool owned() const noexcept { return owned_; }
  // Attributes that are numbers of 64 bits: bytes reserved and used, now and at most.
  [[nodiscard]] std::uint64_t attribute(CUmemPool_attribute which) const;

 private:
  explicit memory_pool(bool owned) noexcept : owned_(owned) {}
  ~memory_pool() override = default;
  void destroy(cleanup& failures) noexcept override;

  bool owned_;
  CUmemoryPool raw_ = nullptr;
};

// What gives the memory back.
enum class free_call { cuMemFree, cuMemFreeAsync, cuMemFreeHost };

// One allocation. It keeps its context, its stream and its pool alive until it is freed.
class buffer final : public resource {
 public:
  [[nodiscard]] static unique<buffer> allocate(const shared<context>& in, std::size_t size);
  // `in` null: in whichever context is current, which the caller keeps alive.
  [[nodiscard]] static unique<buffer> allocate_pinned(const shared<context>& in, std::size_t size);
  // Ordered on `on`; from the device's current pool if `from` is null. `in` is the context that a default stream stands
  // for, and the one that is made current for the allocation.
  [[nodiscard]] static unique<buffer> allocate_async(const shared<context>& in, const shared<stream>& on,
                                                     std::size_t size, const shared<memory_pool>& from = {});

  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] free_call freed_by() const noexcept { return freed_by_; }
  [[nodiscard]] const shared<context>& owning_context() const noexcept { return context_; }

  // Ordered on `on`; a default stream means that of the buffer's context.
  void fill(unsigned char value, const stream& on) const;
  void copy_to(const buffer& destination, const stream& on) const;

  // The stream that orders the free. Not while another thread may be dropping the buffer.
  void set_deallocation_stream(shared<stream> on) noexcept;

 private:
  buffer(free_call freed_by, shared<context> in, shared<stream> on, shared<memory_pool> from,
         std::size_t size) noexcept;
  ~buffer() override = default;
  void destroy(cleanup& failures) noexcept override;
  void free_async(cleanup& failures) noexcept;

  free_call freed_by_;
  shared<context> context_;
  shared<memory_pool> pool_;
  shared<stream> stream_;
  std::thread::id stream_thread_;  // whose default stream CU_STREAM_PER_THREAD meant
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

// Frees memory that no buffer owns; throws what fails (P25). `on` and `in` are for cuMemFreeAsync: a default stream
// means that of `in`.
void free_now(free_call how, CUdeviceptr address, view<stream> on, CUcontext in);

}  // namespace cufault::handles

#endif

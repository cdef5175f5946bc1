// SPDX-License-Identifier: Apache-2.0
// Device and pinned memory, and the pools it may come from.
#ifndef CUFAULT_HANDLES_MEMORY_H
#define CUFAULT_HANDLES_MEMORY_H

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "cufault/handles/stream.h"

namespace cufault::handles {

// A memory pool: owned, or the device's own, which nobody destroys.
class memory_pool final : public resource {
 public:
  [[nodiscard]] static unique<memory_pool> create(const CUmemPoolProps& properties);
  // The pool that cuMemAllocAsync uses on `device`.
  [[nodiscard]] static unique<memory_pool> current_of(CUdevice device);

  // A pool that another process exported. Importing makes an object of this process, which is destroyed like any other.
  [[nodiscard]] static unique<memory_pool> import_from(void* shareable, CUmemAllocationHandleType type);

  // Lets devices read and write the pool's memory. What was granted is taken back before the pool is destroyed.
  void grant_access(const std::vector<CUdevice>& devices);

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
  std::vector<CUmemAccessDesc> granted_;
};

// A memory resource of the user's. What fails in deallocate() it reports itself, through report_failure or its host
// language's equivalent: it is called from clean-up.
class user_memory : public resource {
 public:
  virtual void deallocate(CUdeviceptr address, std::size_t size, view<stream> on) noexcept = 0;

 protected:
  void destroy(cleanup&) noexcept override {}
};

// What gives the memory back.
enum class free_call { cuMemFree, cuMemFreeAsync, cuMemFreeHost, user };

// One allocation. It keeps its context, its stream and its pool alive until it is freed.
class buffer final : public resource {
 public:
  [[nodiscard]] static unique<buffer> allocate(const shared<context>& in, std::size_t size);
  [[nodiscard]] static unique<buffer> allocate_managed(const shared<context>& in, std::size_t size,
                                                       unsigned flags = CU_MEM_ATTACH_GLOBAL);
  // `in` null: in whichever context is current, which the caller keeps alive.
  [[nodiscard]] static unique<buffer> allocate_pinned(const shared<context>& in, std::size_t size);
  // Ordered on `on`; from the device's current pool if `from` is null. `in` is the context that a default stream stands
  // for, and the one that is made current for the allocation.
  [[nodiscard]] static unique<buffer> allocate_async(const shared<context>& in, const shared<stream>& on,
                                                     std::size_t size, const shared<memory_pool>& from = {});

  // Memory that another process exported from a pool.
  [[nodiscard]] static unique<buffer> import_pointer(const shared<context>& in, const shared<stream>& on,
                                                     const shared<memory_pool>& from, CUmemPoolPtrExportData& exported,
                                                     std::size_t size);
  // Memory that `from` owns and takes back; `on` may be null.
  [[nodiscard]] static unique<buffer> adopt(const shared<user_memory>& from, const shared<stream>& on,
                                            CUdeviceptr address, std::size_t size);
  // Takes the memory out of the buffer: the caller frees it.
  [[nodiscard]] CUdeviceptr give_up() noexcept { return std::exchange(address_, 0); }

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
  shared<user_memory> user_;
  shared<stream> stream_;
  std::thread::id stream_thread_;  // whose default stream CU_STREAM_PER_THREAD meant
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

// Frees memory that no buffer owns (not a user's); throws what fails (P25). `on` and `in` are for cuMemFreeAsync: a
// default stream means that of `in`.
void free_now(free_call how, CUdeviceptr address, view<stream> on, CUcontext in);

}  // namespace cufault::handles

#endif

// SPDX-License-Identifier: Apache-2.0
// Memory that another process can map: a range of addresses over a file in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "core/api.h"

namespace cufault::sim {

// A place in an arena's head for what both processes must see: whether something still exists, how far an event is.
struct SharedSlot {
  std::atomic<std::uint64_t> id;  // 0: free, or its owner is gone
  std::atomic<std::uint64_t> recorded;
  std::atomic<std::uint64_t> completed;
  std::uint64_t unused;
};

// Guarded by the driver's lock. Freed ranges are given out again, lowest address first.
class Arena {
 public:
  static constexpr std::size_t kSlots = 4096;

  // Null if the system does not allow it. `props` describe a pool; null for the memory of ordinary allocations.
  [[nodiscard]] static std::shared_ptr<Arena> make(const CUmemPoolProps* props);
  // Maps an arena of another process or of this one. Null if the file is none.
  [[nodiscard]] static std::shared_ptr<Arena> open(int fd);
  // The arena that ordinary device memory comes from; null if there can be none.
  [[nodiscard]] static const std::shared_ptr<Arena>& of_process();

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Zeroed memory aligned to 512 bytes; null if there is no room.
  [[nodiscard]] void* allocate(std::size_t size);
  void release(void* where, std::size_t size);

  [[nodiscard]] int fd() const noexcept { return fd_; }
  // The same for every process that has it open.
  [[nodiscard]] std::uint64_t identity() const noexcept;
  [[nodiscard]] const CUmemPoolProps* props() const noexcept;
  [[nodiscard]] bool contains(const void* where) const noexcept;
  [[nodiscard]] std::uint64_t offset_of(const void* where) const noexcept;
  // Null if the range does not lie inside.
  [[nodiscard]] void* at(std::uint64_t offset, std::size_t size) const noexcept;

  // Takes a free slot and gives it an id; -1 if there is none.
  [[nodiscard]] int take_slot(std::uint64_t id);
  [[nodiscard]] SharedSlot* slot(int index) const noexcept;

 private:
  struct Head;
  Arena(int fd, void* base, std::size_t size) : fd_(fd), base_(static_cast<unsigned char*>(base)), size_(size) {}
  [[nodiscard]] Head* head() const noexcept;

  const int fd_;
  unsigned char* const base_;
  const std::size_t size_;
  std::size_t used_ = 0;                      // beyond this nothing was ever given out
  std::map<std::size_t, std::size_t> free_;   // offset, size
};

}  // namespace cufault::sim

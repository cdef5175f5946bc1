/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the calling thread's stack: return addresses only, from the modules' own unwind tables, remembered by address. */
#ifndef CUFAULT_PROCESS_UNWIND_H
#define CUFAULT_PROCESS_UNWIND_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cufault::process {

/* A thread's stack, as far as it may be read: from the mapping that its stack pointer lies in. */
struct stack_bounds {
  std::uintptr_t low;
  std::uintptr_t high;
};

/*
 * Neither malloc nor the C++ runtime's unwinder is used. Where a return address was seen before, a frame costs a look into a
 * table; where not, the loader is asked for its module and the module's .eh_frame is read. Code without tables is walked by
 * frame pointers as far as they lie on the stack. Signal frames end a walk. Safe from every thread.
 */
class unwinder {
 public:
  /* False: no memory. */
  [[nodiscard]] bool start() noexcept;

  /*
   * `frame` is what __builtin_frame_address(0) gives in the function whose callers are wanted. Writes at most `most` return
   * addresses, innermost first, and returns how many. `bounds` is kept by the caller for its thread, at first all zero.
   */
  [[nodiscard]] std::size_t walk(const void *frame, stack_bounds &bounds, std::uintptr_t *into, std::size_t most) noexcept;

 private:
  /* Two words that other threads may be replacing: `rule` carries a part of the address that it is for. */
  struct entry {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> rule;
  };
  static constexpr std::size_t entries = 8192;

  [[nodiscard]] std::uint64_t rule_for(std::uintptr_t address) noexcept;

  entry *cache_ = nullptr;
  std::atomic<std::uint64_t> unloads_{0};
};

/* 64 bits that stand for a stack. */
[[nodiscard]] inline std::uint64_t stack_hash(const std::uintptr_t *addresses, std::size_t count) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ addresses[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace cufault::process

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a forked child from the process that it was forked from, at the cost of one load. */
#ifndef CUFAULT_PROCESS_LIFETIME_H
#define CUFAULT_PROCESS_LIFETIME_H

#include <atomic>
#include <cstdint>

namespace cufault::process {

/*
 * The mark lives in a page that the kernel clears in a child (MADV_WIPEONFORK), so fork, _Fork and raw clone are all
 * seen, a child of vfork or posix_spawn (which shares memory) is not taken for one, and a child that makes no driver
 * call does nothing at all. Kernels older than 4.14 fall back to pthread_atfork.
 */
class lifetime {
 public:
  /* Call once before anything asks. False: no memory. */
  [[nodiscard]] bool begin() noexcept;
  /* True in the process that called begin() or renew() last, false in a forked child of it. */
  [[nodiscard]] bool same_process() const noexcept {
    const std::atomic<std::uint32_t> *const mark = mark_.load(std::memory_order_relaxed);
    return mark == nullptr || mark->load(std::memory_order_relaxed) != 0;
  }
  /* In the child, once it has its own state. */
  void renew() noexcept;

 private:
  std::atomic<std::atomic<std::uint32_t> *> mark_{nullptr};
};

}  // namespace cufault::process

#endif

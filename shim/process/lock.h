/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for the rare paths: starting, opening a step. Nothing between a call's entry and its forwarding takes one. */
#ifndef CUFAULT_PROCESS_LOCK_H
#define CUFAULT_PROCESS_LOCK_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace cufault::process {

/* Waits in the kernel, needs no libpthread, and can be reset in a forked child whose parent held it. */
class lock {
 public:
  void take() noexcept {
    std::uint32_t seen = 0;
    if (state_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (state_.exchange(2, std::memory_order_acquire) != 0)
      ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
  }
  void give() noexcept {
    if (state_.exchange(0, std::memory_order_release) == 2)
      ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void reset() noexcept { state_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> state_{0};
};

class hold {
 public:
  explicit hold(lock &held) noexcept : held_(held) { held_.take(); }
  ~hold() { held_.give(); }
  hold(const hold &) = delete;
  hold &operator=(const hold &) = delete;

 private:
  lock &held_;
};

}  // namespace cufault::process

#endif

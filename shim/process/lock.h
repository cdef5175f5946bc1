/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for the rare paths: starting, opening a step. Nothing between a call's entry and its forwarding takes one. */
#ifndef CUFAULT_PROCESS_LOCK_H
#define CUFAULT_PROCESS_LOCK_H

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace cufault::process {

/* Held by a process, not a thread: a forked child takes over what its parent's other threads held at that moment. */
class lock {
 public:
  void take() noexcept {
    const auto self = static_cast<std::uint32_t>(::getpid());
    for (;;) {
      std::uint32_t holder = 0;
      if (holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return;
      if (holder != self && holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return;
      ::sched_yield();
    }
  }
  void give() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> holder_{0};
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the trace: CLOCK_MONOTONIC in nanoseconds, read off the processor's counter in between. */
#ifndef CUFAULT_TRACE_CLOCK_H
#define CUFAULT_TRACE_CLOCK_H

#include <atomic>
#include <cstdint>
#include <ctime>

namespace cufault::trace {

[[nodiscard]] inline std::uint64_t read_clock(clockid_t which) noexcept {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/* One thread's last exact reading. All zero at first. */
struct clock_anchor {
  std::uint64_t counter;
  std::uint64_t ns;
  std::uint64_t last;
};

/*
 * A traced call reads the time twice, and the system's clock would cost as much as all the rest of the record. Where the
 * processor's counter runs at one rate whatever the processor does, a thread asks the system at most every half million
 * counts and goes on by the counter, whose rate is measured since the start. Until a millisecond has passed, and on other
 * machines, each reading is the system's. A thread's readings never go back; between threads they may be tens of ns off.
 */
class monotonic_clock {
 public:
  /* At the start of the process's trace, and of a forked child's. */
  void start() noexcept;
  [[nodiscard]] std::uint64_t now(clock_anchor &anchor) noexcept {
    if (rate_.load(std::memory_order_relaxed) != 0) {
      const std::uint64_t passed = counter() - anchor.counter;
      if (passed < longest) [[likely]]
        return after(anchor, anchor.ns + (passed * rate_.load(std::memory_order_relaxed) >> shift));
    }
    return read(anchor);
  }

 private:
  static constexpr std::uint64_t longest = 500'000;
  static constexpr unsigned shift = 32;

  [[nodiscard]] static std::uint64_t counter() noexcept;
  [[nodiscard]] static std::uint64_t after(clock_anchor &anchor, std::uint64_t ns) noexcept {
    if (ns > anchor.last) anchor.last = ns;
    return anchor.last;
  }
  [[nodiscard]] std::uint64_t read(clock_anchor &anchor) noexcept;

  bool steady_ = false;
  std::uint64_t first_counter_ = 0;
  std::uint64_t first_ns_ = 0;
  std::atomic<std::uint64_t> rate_{0}; /* ns in one count, times 2^shift; 0: not known */
};

#if defined(__x86_64__)
inline std::uint64_t monotonic_clock::counter() noexcept { return __builtin_ia32_rdtsc(); }
#else
inline std::uint64_t monotonic_clock::counter() noexcept { return 0; }
#endif

}  // namespace cufault::trace

#endif

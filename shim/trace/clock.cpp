// SPDX-License-Identifier: Apache-2.0
// Whether the counter may be trusted, and its rate.
#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cufault::trace {
namespace {

bool counter_is_steady() noexcept {
#if defined(__x86_64__)
  constexpr unsigned advanced_power_management = 0x80000007u;
  constexpr unsigned invariant = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(advanced_power_management, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#else
  return false;
#endif
}

}  // namespace

void monotonic_clock::start() noexcept {
  steady_ = counter_is_steady();
  rate_.store(0, std::memory_order_relaxed);
  first_ns_ = read_clock(CLOCK_MONOTONIC);
  first_counter_ = counter();
}

std::uint64_t monotonic_clock::read(clock_anchor &anchor) noexcept {
  constexpr std::uint64_t shortest_measure = 1'000'000;
  const std::uint64_t counts = counter();
  const std::uint64_t ns = read_clock(CLOCK_MONOTONIC);
  anchor.counter = counts;
  anchor.ns = ns;
  const std::uint64_t passed = ns - first_ns_;
  if (steady_ && passed >= shortest_measure && counts > first_counter_) {
    // In halves that a long run cannot overflow: (ns << 32) / counts.
    const std::uint64_t counted = counts - first_counter_;
    const std::uint64_t whole = passed / counted, rest = passed % counted;
    const std::uint64_t scaled = counted >> 32 == 0 ? (rest << shift) / counted : rest / (counted >> shift);
    rate_.store(whole << shift | scaled, std::memory_order_relaxed);
  }
  return after(anchor, ns);
}

}  // namespace cufault::trace

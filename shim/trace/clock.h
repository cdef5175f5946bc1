/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the trace: CLOCK_MONOTONIC in nanoseconds. */
#ifndef CUFAULT_TRACE_CLOCK_H
#define CUFAULT_TRACE_CLOCK_H

#include <ctime>

#include <cstdint>

namespace cufault::trace {

inline std::uint64_t read_clock(clockid_t which) noexcept {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t now_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

}  // namespace cufault::trace

#endif

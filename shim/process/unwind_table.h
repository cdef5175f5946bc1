/* SPDX-License-Identifier: Apache-2.0 */
/* What DWARF call frame information says about one return address, reduced to what a walk of return addresses needs. */
#ifndef CUFAULT_PROCESS_UNWIND_TABLE_H
#define CUFAULT_PROCESS_UNWIND_TABLE_H

#include <cstddef>
#include <cstdint>

namespace cufault::process {

/* How to go from a frame to its caller's. CFA: the stack pointer that the caller has after the return. */
struct unwind_rule {
  enum class base : std::uint8_t {
    unknown,      /* no table covers it: try the frame pointer */
    stack,        /* CFA = stack pointer + cfa_offset */
    frame,        /* CFA = frame pointer + cfa_offset */
    frame_memory, /* CFA = the word at frame pointer + cfa_offset (a realigned stack) */
    outermost     /* nobody called it */
  };
  enum class saved : std::uint8_t {
    same,     /* the caller's frame pointer is still in its register */
    at_cfa,   /* it is the word at CFA + frame_offset */
    at_frame, /* it is the word at frame pointer + frame_offset */
    lost
  };
  base cfa = base::unknown;
  saved frame = saved::same;
  std::int32_t cfa_offset = 0;
  std::int32_t frame_offset = 0;
};

/*
 * `header` is a module's .eh_frame_hdr as it lies in memory, `header_size` its size, `base` where the module is loaded.
 * `address` is an address inside the call instruction. What the tables do not say, or say in a form not met in practice,
 * gives base::unknown.
 */
[[nodiscard]] unwind_rule read_unwind_rule(const unsigned char *header, std::size_t header_size, std::uintptr_t address) noexcept;

}  // namespace cufault::process

#endif

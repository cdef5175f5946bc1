/* SPDX-License-Identifier: Apache-2.0 */
/* One armed call on its way: what the generated wrappers hand to the shim before and after forwarding. */
#ifndef CUFAULT_INTERPOSE_CALL_H
#define CUFAULT_INTERPOSE_CALL_H

#include <cstdint>

struct cufault_trace_record;

namespace cufault::interpose {

struct thread;

struct call {
  std::uint32_t symbol;
  std::uint32_t argc; /* 0 for a function that no header declares */
  const std::uint64_t *args;
  const void *frame; /* __builtin_frame_address(0) of the wrapper: what the application called */

  thread *by = nullptr;
  cufault_trace_record *record = nullptr;
  std::uint64_t generation = 0; /* of the process that began the call: a host function may fork */
  std::uint64_t context_before = 0;
  std::uint64_t ordinal = 0;
  std::uint32_t rule = 0;  /* index + 1 */
  std::uint32_t stack = 0; /* id in stacks.<pid> */
  std::uint32_t flags = 0;
  std::int32_t given = 0; /* the answer, if it is not the driver's */
  bool answered = false;  /* `given` is answered, whatever the driver says */
  bool forwarded = false;
  bool nested = false;
  bool watched = false; /* more is to be done than to forward it */
};

/* Where the application goes on after the call. */
[[nodiscard]] inline const void *caller_of(const call &call) noexcept {
  return static_cast<const void *const *>(call.frame)[1];
}

/* True: forward the call, then finish. False: answer call.given. */
[[nodiscard]] bool begin_call(call &call) noexcept;

/* The result that the application gets. `real` is the driver's, if it was asked. */
[[nodiscard]] std::int32_t finish_call(call &call, std::int32_t real) noexcept;

/* Starts the shim if nobody has, and says where that symbol goes now. */
[[nodiscard]] void *start_and_find(std::uint32_t symbol) noexcept;

}  // namespace cufault::interpose

#endif

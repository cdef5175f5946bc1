/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's one state, and how it comes to be: at the first driver or control call, never at load. */
#ifndef CUFAULT_INTERPOSE_SHIM_H
#define CUFAULT_INTERPOSE_SHIM_H

#include <atomic>
#include <cstdint>

#include "backend.h"
#include "faults/engine.h"
#include "process/lifetime.h"
#include "process/lock.h"
#include "process/unwind.h"
#include "trace/stacks.h"
#include "trace/writer.h"

namespace cufault::interpose {

struct thread;

/* Constant-initialised and never destroyed: calls arrive before main and after exit handlers. */
struct shim {
  /* Set last of all by the start; whoever reads it true sees everything else. */
  std::atomic<bool> started{false};
  /* A plan is in force. Without one the shim only forwards. */
  bool planned = false;
  std::uint32_t pid = 0;
  /* Counts forks, so that a call begun in the parent is known in the child. */
  std::uint64_t generation = 0;
  backend driver;
  faults::plan plan;
  faults::engine faults;
  trace::writer trace;
  trace::stack_store stacks;
  process::unwinder unwinder;
  process::lifetime life;
  /* Taken by the start, by a forked child's renewal and by the opening and closing of steps. */
  process::lock lock;
};

extern shim the_shim;

/* Idempotent, from any thread. Afterwards the_shim.started is true, except inside its own run on one thread. */
void start() noexcept;

/* To be asked before anything is counted or written: a forked child gets state and files of its own. */
void renew_after_fork() noexcept;
inline void check_fork() noexcept {
  if (!the_shim.life.same_process()) [[unlikely]]
    renew_after_fork();
}

/* The calling thread's current context by the driver's word; `mirrored` where the driver does not say. */
[[nodiscard]] std::uint64_t ask_current_context(std::uint64_t mirrored) noexcept;

/* Writes that a step is open or was closed, with the context current then. */
void write_step(thread &by, std::uint16_t type, std::uint32_t step, const char *name) noexcept;

/* The name of a step by its id, be it the plan's or the program's own; "" if it has none. */
[[nodiscard]] const char *step_name(std::uint32_t step) noexcept;

}  // namespace cufault::interpose

#endif

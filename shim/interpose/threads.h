/* SPDX-License-Identifier: Apache-2.0 */
/* What the shim keeps for each thread of the program. */
#ifndef CUFAULT_INTERPOSE_THREADS_H
#define CUFAULT_INTERPOSE_THREADS_H

#include <atomic>
#include <cstdint>

#include "faults/engine.h"
#include "process/unwind.h"
#include "trace/writer.h"

namespace cufault::interpose {

/*
 * Made at a thread's first driver call and never destroyed by the thread, because calls may arrive from its last
 * destructors; the memory of threads that the kernel no longer knows is taken over by new ones.
 */
struct thread {
  faults::thread_state faults;
  trace::log log;
  process::stack_bounds stack;
  std::uint32_t depth;     /* driver calls of this thread under way */
  bool of_the_driver;      /* the driver has started it: all its calls come from callbacks */
  std::uint32_t callbacks; /* calls of the driver into the application under way, as the simulator reports them */
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint32_t> tid; /* 0: free */
  thread *next;                   /* in the list of all, never changed */
};

/* The calling thread's own; made if it has none. Never null: without memory the process ends with a message. */
[[nodiscard]] thread &this_thread() noexcept;

/* Likewise, but nullptr if the thread has made no driver call. */
[[nodiscard]] thread *this_thread_if_known() noexcept;

/* Driver calls of all threads, those that ended included. */
[[nodiscard]] std::uint64_t count_calls() noexcept;

/* In a forked child: the other threads are gone, and this one starts anew. */
void forget_threads() noexcept;

}  // namespace cufault::interpose

#endif

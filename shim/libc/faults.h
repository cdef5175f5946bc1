/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this call fails: the plan, read at the first call, its counts, and what a fork changes. */
#ifndef CUFAULT_LIBC_FAULTS_H
#define CUFAULT_LIBC_FAULTS_H

#include <cstddef>
#include <cstdint>

#include "next.h"

namespace cufault::libc {

struct close_fault {
  int error = 0; /* 0: none */
  bool really_close = false;
};

/*
 * Both start this library if nobody has, count the call for every rule that it matches, write down what fired, and
 * leave errno alone. Without a plan they open the short way for that entry and answer no.
 */
[[nodiscard]] bool allocation_fails(entry which, std::size_t size, const void* caller) noexcept;
[[nodiscard]] close_fault close_fails(int descriptor, const void* caller) noexcept;

/*
 * The calling thread's next allocation that this library sees fails, counted by no rule. So a failing operator new runs
 * as it does when memory is short: its malloc gives nullptr, the new-handler is asked, bad_alloc is thrown by its
 * owner.
 */
void fail_next_allocation() noexcept;
/* True: that has not happened; and now it will not. */
[[nodiscard]] bool take_back_failure() noexcept;

}  // namespace cufault::libc

#endif

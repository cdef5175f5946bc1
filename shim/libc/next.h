/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that this library stands in front of: where they really are, and the short way to them while idle. */
#ifndef CUFAULT_LIBC_NEXT_H
#define CUFAULT_LIBC_NEXT_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cufault::libc {

enum class entry : std::uint32_t {
  malloc,
  calloc,
  realloc,
  reallocarray,
  memalign,
  aligned_alloc,
  posix_memalign,
  valloc,
  pvalloc,
  close,
  new_one,
  new_array,
  new_one_nothrow,
  new_array_nothrow,
  new_one_aligned,
  new_array_aligned,
  new_one_aligned_nothrow,
  new_array_aligned_nothrow,
  count
};

constexpr std::size_t entry_count = static_cast<std::size_t>(entry::count);

struct entry_facts {
  const char* symbol;
  const char* release;    /* of operator new: the operator delete that takes back what it gave */
  std::uint32_t function; /* cufault_libc_function */
  bool nothrow;
};

[[nodiscard]] const entry_facts& facts_of(entry which) noexcept;

/* Non-null once it is known that no plan is in force: then an entry is a load and a jump. */
extern std::atomic<void*> idle_functions[entry_count];

template <class Function>
[[nodiscard]] Function* idle_function(entry which) noexcept {
  return reinterpret_cast<Function*>(idle_functions[static_cast<std::size_t>(which)].load(std::memory_order_relaxed));
}

/* The real function, looked up at the first question. Without one the process ends with a message. */
void* find_next(entry which) noexcept;

/*
 * Calls it, from a frame of this library: with a jump instead, the operator new that a real operator new[] jumps to
 * would return to the program and count a second time (is_own_call).
 */
template <class Result, class... Arguments>
Result call_next(entry which, Arguments... arguments) {
  const Result result = reinterpret_cast<Result (*)(Arguments...)>(find_next(which))(arguments...);
  __asm__ volatile("");
  return result;
}

/* Opens the short way for that entry. */
void pass_through(entry which) noexcept;

/* Some function behind this library by its name, or nullptr. */
[[nodiscard]] void* find_helper(const char* symbol) noexcept;

/*
 * True for a return address in this library, or in a real function that it has forwarded to: the malloc inside operator
 * new, the operator new inside operator new[], the realloc inside reallocarray are the same allocation once more.
 */
[[nodiscard]] bool is_own_call(const void* caller) noexcept;

}  // namespace cufault::libc

#endif

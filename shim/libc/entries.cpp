// SPDX-License-Identifier: Apache-2.0
// What the library exports: the malloc family, operator new, close. Each asks whether the call fails, else passes it
// on.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include "faults.h"
#include "next.h"
#include "process/refuse.h"

/* The address that the call returns to lies in the module that made it. */
#define CALLER __builtin_return_address(0)
#define EXPORTED __attribute__((visibility("default")))

namespace cufault::libc {
namespace {

// The long way, taken until it is known that there is no plan, and always when there is one. Not inlined: an idle entry
// then saves no register before it jumps.
template <class... Arguments>
[[gnu::noinline, gnu::cold]] void* allocate(entry which, std::size_t size, const void* caller,
                                            Arguments... arguments) noexcept {
  if (allocation_fails(which, size, caller)) {
    errno = ENOMEM;
    return nullptr;
  }
  return call_next<void*, Arguments...>(which, arguments...);
}

std::size_t product(std::size_t count, std::size_t size) noexcept {
  std::size_t result = 0;
  return __builtin_mul_overflow(count, size, &result) ? SIZE_MAX : result;
}

template <class... Sizes>
[[gnu::noinline, gnu::cold]] void* reallocate(entry which, void* memory, std::size_t bytes, const void* caller,
                                              Sizes... sizes) noexcept {
  // This frees, and freeing does not fail.
  if (memory != nullptr && bytes == 0) return call_next<void*, void*, Sizes...>(which, memory, sizes...);
  return allocate<void*, Sizes...>(which, bytes, caller, memory, sizes...);
}

// operator new that never asked for memory through us (an allocator that brings its own): undone, then failed for it.
void* fail_instead(const entry_facts& facts, void* memory) {
  if (auto* const release = reinterpret_cast<void (*)(void*)>(find_helper(facts.release))) release(memory);
  if (facts.nothrow) return nullptr;
  if (auto* const throws = reinterpret_cast<void (*)()>(find_helper("_ZSt17__throw_bad_allocv"))) throws();
  process::refuse("an operator new of no known C++ library was to fail, and nothing is loaded that throws bad_alloc");
}

// No frame here has a clean-up, so an exception of the real operator new passes through untouched.
template <class... Arguments>
[[gnu::noinline, gnu::cold]] void* allocate_new(entry which, const void* caller, std::size_t size,
                                                Arguments... arguments) {
  find_next(which);  // now, because the look-up may itself allocate
  const bool fails = allocation_fails(which, size, caller);
  if (fails) fail_next_allocation();
  void* const memory = call_next<void*, std::size_t, Arguments...>(which, size, arguments...);
  return fails && take_back_failure() ? fail_instead(facts_of(which), memory) : memory;
}

// It answers the error and leaves errno alone.
[[gnu::noinline, gnu::cold]] int allocate_aligned(void** memory, std::size_t alignment, std::size_t size,
                                                  const void* caller) noexcept {
  if (allocation_fails(entry::posix_memalign, size, caller)) return ENOMEM;
  return call_next<int>(entry::posix_memalign, memory, alignment, size);
}

// Thread cancellation may unwind through here, as through close itself.
[[gnu::noinline, gnu::cold]] int close_descriptor(int descriptor, const void* caller) {
  const close_fault fault = close_fails(descriptor, caller);
  if (fault.error == 0) return call_next<int>(entry::close, descriptor);
  if (fault.really_close) call_next<int>(entry::close, descriptor);
  errno = fault.error;
  return -1;
}

}  // namespace
}  // namespace cufault::libc

using cufault::libc::allocate;
using cufault::libc::allocate_new;
using cufault::libc::call_next;
using cufault::libc::entry;
using cufault::libc::idle_function;
using cufault::libc::reallocate;

extern "C" {

EXPORTED void* malloc(std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t)>(entry::malloc)) [[likely]]
    return real(size);
  return allocate(entry::malloc, size, CALLER, size);
}

EXPORTED void* calloc(std::size_t count, std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t, std::size_t)>(entry::calloc)) [[likely]]
    return real(count, size);
  return allocate(entry::calloc, cufault::libc::product(count, size), CALLER, count, size);
}

EXPORTED void* realloc(void* memory, std::size_t size) noexcept {
  const auto which = entry::realloc;
  if (auto* const real = idle_function<void*(void*, std::size_t)>(which)) [[likely]]
    return real(memory, size);
  return reallocate(which, memory, size, CALLER, size);
}

EXPORTED void* reallocarray(void* memory, std::size_t count, std::size_t size) noexcept {
  const auto which = entry::reallocarray;
  if (auto* const real = idle_function<void*(void*, std::size_t, std::size_t)>(which)) [[likely]]
    return real(memory, count, size);
  return reallocate(which, memory, cufault::libc::product(count, size), CALLER, count, size);
}

EXPORTED void* memalign(std::size_t alignment, std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t, std::size_t)>(entry::memalign)) [[likely]]
    return real(alignment, size);
  return allocate(entry::memalign, size, CALLER, alignment, size);
}

EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t, std::size_t)>(entry::aligned_alloc)) [[likely]]
    return real(alignment, size);
  return allocate(entry::aligned_alloc, size, CALLER, alignment, size);
}

EXPORTED int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (auto* const real = idle_function<int(void**, std::size_t, std::size_t)>(entry::posix_memalign)) [[likely]]
    return real(memory, alignment, size);
  return cufault::libc::allocate_aligned(memory, alignment, size, CALLER);
}

EXPORTED void* valloc(std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t)>(entry::valloc)) [[likely]]
    return real(size);
  return allocate(entry::valloc, size, CALLER, size);
}

EXPORTED void* pvalloc(std::size_t size) noexcept {
  if (auto* const real = idle_function<void*(std::size_t)>(entry::pvalloc)) [[likely]]
    return real(size);
  return allocate(entry::pvalloc, size, CALLER, size);
}

EXPORTED int close(int descriptor) {
  if (auto* const real = idle_function<int(int)>(entry::close)) [[likely]]
    return real(descriptor);
  return cufault::libc::close_descriptor(descriptor, CALLER);
}

}  // extern "C"

EXPORTED void* operator new(std::size_t size) {
  if (auto* const real = idle_function<void*(std::size_t)>(entry::new_one)) [[likely]]
    return real(size);
  return allocate_new(entry::new_one, CALLER, size);
}

EXPORTED void* operator new[](std::size_t size) {
  if (auto* const real = idle_function<void*(std::size_t)>(entry::new_array)) [[likely]]
    return real(size);
  return allocate_new(entry::new_array, CALLER, size);
}

EXPORTED void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
  using function = void*(std::size_t, const std::nothrow_t&);
  if (auto* const real = idle_function<function>(entry::new_one_nothrow)) [[likely]]
    return real(size, tag);
  return allocate_new<const std::nothrow_t&>(entry::new_one_nothrow, CALLER, size, tag);
}

EXPORTED void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  using function = void*(std::size_t, const std::nothrow_t&);
  if (auto* const real = idle_function<function>(entry::new_array_nothrow)) [[likely]]
    return real(size, tag);
  return allocate_new<const std::nothrow_t&>(entry::new_array_nothrow, CALLER, size, tag);
}

EXPORTED void* operator new(std::size_t size, std::align_val_t alignment) {
  if (auto* const real = idle_function<void*(std::size_t, std::align_val_t)>(entry::new_one_aligned)) [[likely]]
    return real(size, alignment);
  return allocate_new(entry::new_one_aligned, CALLER, size, alignment);
}

EXPORTED void* operator new[](std::size_t size, std::align_val_t alignment) {
  if (auto* const real = idle_function<void*(std::size_t, std::align_val_t)>(entry::new_array_aligned)) [[likely]]
    return real(size, alignment);
  return allocate_new(entry::new_array_aligned, CALLER, size, alignment);
}

EXPORTED void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  using function = void*(std::size_t, std::align_val_t, const std::nothrow_t&);
  if (auto* const real = idle_function<function>(entry::new_one_aligned_nothrow)) [[likely]]
    return real(size, alignment, tag);
  return allocate_new<std::align_val_t, const std::nothrow_t&>(entry::new_one_aligned_nothrow, CALLER, size, alignment,
                                                               tag);
}

EXPORTED void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  using function = void*(std::size_t, std::align_val_t, const std::nothrow_t&);
  if (auto* const real = idle_function<function>(entry::new_array_aligned_nothrow)) [[likely]]
    return real(size, alignment, tag);
  return allocate_new<std::align_val_t, const std::nothrow_t&>(entry::new_array_aligned_nothrow, CALLER, size,
                                                               alignment, tag);
}

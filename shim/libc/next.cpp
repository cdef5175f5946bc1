// SPDX-License-Identifier: Apache-2.0
// Looks the real functions up, each at its first use.
#include "next.h"

#include <dlfcn.h>

#include "cufault/libc_plan_format.h"
#include "loaded_symbol.h"
#include "process/libc_2_28.h"
#include "process/refuse.h"

extern "C" {
// Made by the linker: where this library begins and ends.
extern __attribute__((visibility("hidden"))) const char __ehdr_start;
extern __attribute__((visibility("hidden"))) const char _end;
}

namespace cufault::libc {
namespace {

constexpr const char* delete_one = "_ZdlPv";
constexpr const char* delete_array = "_ZdaPv";
constexpr const char* delete_one_aligned = "_ZdlPvSt11align_val_t";
constexpr const char* delete_array_aligned = "_ZdaPvSt11align_val_t";

constexpr entry_facts facts[] = {
    {"malloc", nullptr, CUFAULT_LIBC_MALLOC, true},
    {"calloc", nullptr, CUFAULT_LIBC_CALLOC, true},
    {"realloc", nullptr, CUFAULT_LIBC_REALLOC, true},
    {"reallocarray", nullptr, CUFAULT_LIBC_REALLOC, true},
    {"memalign", nullptr, CUFAULT_LIBC_MEMALIGN, true},
    {"aligned_alloc", nullptr, CUFAULT_LIBC_MEMALIGN, true},
    {"posix_memalign", nullptr, CUFAULT_LIBC_MEMALIGN, true},
    {"valloc", nullptr, CUFAULT_LIBC_MEMALIGN, true},
    {"pvalloc", nullptr, CUFAULT_LIBC_MEMALIGN, true},
    {"close", nullptr, CUFAULT_LIBC_CLOSE, true},
    {"_Znwm", delete_one, CUFAULT_LIBC_OPERATOR_NEW, false},
    {"_Znam", delete_array, CUFAULT_LIBC_OPERATOR_NEW, false},
    {"_ZnwmRKSt9nothrow_t", delete_one, CUFAULT_LIBC_OPERATOR_NEW, true},
    {"_ZnamRKSt9nothrow_t", delete_array, CUFAULT_LIBC_OPERATOR_NEW, true},
    {"_ZnwmSt11align_val_t", delete_one_aligned, CUFAULT_LIBC_OPERATOR_NEW, false},
    {"_ZnamSt11align_val_t", delete_array_aligned, CUFAULT_LIBC_OPERATOR_NEW, false},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", delete_one_aligned, CUFAULT_LIBC_OPERATOR_NEW, true},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", delete_array_aligned, CUFAULT_LIBC_OPERATOR_NEW, true},
};
static_assert(sizeof facts / sizeof *facts == entry_count);
static_assert(sizeof(std::size_t) == sizeof(unsigned long), "operator new is mangled with m");

struct known_function {
  std::atomic<void*> address{nullptr};
  std::atomic<std::size_t> size{0};
};

constinit known_function functions[entry_count];

bool lies_in(const void* address, const void* begin, std::size_t size) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin) < size;
}

// libstdc++ may come, and go again, with one extension module: whoever has its operator new keeps it.
void keep_loaded(const char* path) noexcept { ::dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); }

void* look_up(entry which) noexcept {
  const entry_facts& wanted = facts_of(which);
  char owner[4096] = "";
  const loaded_function found = find_behind(&__ehdr_start, wanted.symbol, owner, sizeof owner);
  if (found.address == nullptr) {
    process::message why;
    why << wanted.symbol << " was called, but no loaded library defines it behind libcufault_libc.so";
    process::refuse(why.view());
  }
  known_function& known = functions[static_cast<std::size_t>(which)];
  known.size.store(found.size, std::memory_order_relaxed);
  known.address.store(found.address, std::memory_order_release);
  if (wanted.function == CUFAULT_LIBC_OPERATOR_NEW) keep_loaded(owner);
  return found.address;
}

}  // namespace

constinit std::atomic<void*> idle_functions[entry_count] = {};

const entry_facts& facts_of(entry which) noexcept { return facts[static_cast<std::size_t>(which)]; }

void* find_next(entry which) noexcept {
  void* const known = functions[static_cast<std::size_t>(which)].address.load(std::memory_order_acquire);
  return known != nullptr ? known : look_up(which);
}

void pass_through(entry which) noexcept {
  idle_functions[static_cast<std::size_t>(which)].store(find_next(which), std::memory_order_release);
}

void* find_helper(const char* symbol) noexcept { return find_behind(&__ehdr_start, symbol).address; }

bool is_own_call(const void* caller) noexcept {
  if (lies_in(caller, &__ehdr_start, static_cast<std::size_t>(&_end - &__ehdr_start))) return true;
  for (const known_function& known : functions) {
    const void* const address = known.address.load(std::memory_order_acquire);
    if (address != nullptr && lies_in(caller, address, known.size.load(std::memory_order_relaxed))) return true;
  }
  return false;
}

}  // namespace cufault::libc

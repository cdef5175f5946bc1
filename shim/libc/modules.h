/* SPDX-License-Identifier: Apache-2.0 */
/* Which module of the process an address lies in, and which rules of the plan its basename matches. */
#ifndef CUFAULT_LIBC_MODULES_H
#define CUFAULT_LIBC_MODULES_H

/*
 * What is loaded before the first dlopen is never unloaded, so its addresses are looked up in a table that never
 * changes, without a lock. Any other address is looked up inside dl_iterate_phdr, whose counts of loads and unloads say
 * whether the second table still holds; that table is read and rebuilt under the loader's own lock. Memory comes from
 * the kernel: nothing here allocates.
 */

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plan.h"

namespace cufault::libc {

struct module {
  std::uint64_t rules = 0;           /* a bit for each rule that watches its calls */
  std::uintptr_t base = 0;           /* where it is loaded; 0: the address is in no module */
  char name[CUFAULT_LIBC_NAME] = {}; /* basename, cut if it does not fit */
};

/* A growing list of modules; ranges apart from the rest, because they are what is searched. */
class module_table {
 public:
  /* False: no memory. `program` is the basename of an object without a name. */
  [[nodiscard]] bool add(const dl_phdr_info& object, const plan& plan, const char* program) noexcept;
  [[nodiscard]] const module* find(std::uintptr_t address) const noexcept;
  void clear() noexcept { count_ = 0; }

 private:
  struct range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  [[nodiscard]] bool grow() noexcept;

  range* ranges_ = nullptr;
  module* modules_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

class modules {
 public:
  /* Must run before the first dlopen. False: no memory. The plan is kept. */
  [[nodiscard]] bool start(const plan& plan) noexcept;

  /* False: no memory to find out. */
  [[nodiscard]] bool find(const void* address, module& found) noexcept;

 private:
  struct visit;
  static int add_permanent(dl_phdr_info* object, std::size_t size, void* data);
  static int look(dl_phdr_info* object, std::size_t size, void* data);
  static bool look_at(const dl_phdr_info& object, visit& visit);

  const plan* plan_ = nullptr;
  char program_[CUFAULT_LIBC_NAME] = {};
  module_table permanent_;
  /* The rest belongs to whoever holds the loader's lock. */
  module_table current_;
  /* Tells ThreadSanitizer, which does not see that lock, that one thread comes after the other. */
  std::atomic<bool> turn_{false};
  bool valid_ = false; /* current_ holds every object there was at these counts */
  unsigned long long adds_ = 0;
  unsigned long long subs_ = 0;
};

}  // namespace cufault::libc

#endif

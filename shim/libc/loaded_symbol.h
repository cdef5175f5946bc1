/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function in the libraries of this process without dlsym, which allocates and so would come back to us. */
#ifndef CUFAULT_LIBC_LOADED_SYMBOL_H
#define CUFAULT_LIBC_LOADED_SYMBOL_H

#include <cstddef>

namespace cufault::libc {

struct loaded_function {
  void* address = nullptr; /* nullptr: nobody defines it */
  std::size_t size = 0;    /* of its code, as the symbol table says */
};

/*
 * The definition in the first object, in load order, behind the one that holds `from`: what RTLD_NEXT means, and beyond
 * it what was loaded with RTLD_LOCAL. That matters for operator new: a Python extension brings libstdc++ along in a
 * scope of its own, where RTLD_NEXT does not look. Takes the loader's lock; allocates nothing.
 * `owner`, unless null, is filled with the path of the object, cut if it does not fit.
 */
[[nodiscard]] loaded_function find_behind(const void* from, const char* name, char* owner = nullptr,
                                          std::size_t owner_size = 0) noexcept;

}  // namespace cufault::libc

#endif

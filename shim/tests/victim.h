/* SPDX-License-Identifier: Apache-2.0 */
/* What programs under test use of the driver and of the stand-in behind the shim. */
#ifndef CUFAULT_TESTS_VICTIM_H
#define CUFAULT_TESTS_VICTIM_H

#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cufault/control.h"
#include "standin_driver.h"

namespace cufault::tests {

/* A function of a library that is loaded, or the end of the program. */
template <class Function>
Function *function_in(void *library, const char *name) {
  void *const found = ::dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "victim: no %s\n", name);
    std::exit(90);
  }
  return reinterpret_cast<Function *>(found);
}

template <class Function>
Function *control(const char *name) {
  return function_in<Function>(RTLD_DEFAULT, name);
}

/* The driver that stands behind the shim, as the shim has opened it. */
inline void *standin() {
  static void *const library = ::dlopen(std::getenv("STANDIN"), RTLD_NOW | RTLD_NOLOAD);
  return library;
}
inline std::uint64_t standin_calls_of(const char *symbol) {
  return standin() == nullptr ? 0 : function_in<decltype(standin_calls)>(standin(), "standin_calls")(symbol);
}

}  // namespace cufault::tests

#endif

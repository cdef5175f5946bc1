// SPDX-License-Identifier: Apache-2.0
// The one table of driver functions that the whole layer calls through.
#ifndef CUFAULT_HANDLES_DRIVER_TABLE_H
#define CUFAULT_HANDLES_DRIVER_TABLE_H

#include <cuda.h>
#include <cudaTypedefs.h>

namespace cufault::handles {

template <class Pointer>
struct driver_function;

// One entry: callable like the function itself. A function that this driver lacks answers CUDA_ERROR_NOT_FOUND, so that
// every path, raising or cleaning up, meets it as an ordinary failure; `address == nullptr` tells it apart from a
// driver that answers NOT_FOUND (P29).
template <class... Args>
struct driver_function<CUresult (*)(Args...)> {
  const char* name;
  int version;
  CUresult (*address)(Args...) = nullptr;

  CUresult operator()(Args... args) const noexcept {
    return address == nullptr ? CUDA_ERROR_NOT_FOUND : address(args...);
  }
};

// Trivially destructible: handles that are dropped while statics are torn down still find it.
struct driver_table {
#define CUFAULT_DRIVER_FUNCTION(name, version) driver_function<PFN_##name##_v##version> name{#name, version};
#include "cufault/handles/driver_functions.inc"
#undef CUFAULT_DRIVER_FUNCTION

  int driver_version = 0;  // as cuDriverGetVersion answered; 0 if it did not
};

// The table in force. The first call loads libcuda.so.1 and throws cuda_error where there is none (the next call tries
// again); nothing is loaded before. Thread-safe.
[[nodiscard]] const driver_table& driver();

// The table in force, or null before the first driver().
[[nodiscard]] const driver_table* loaded_driver() noexcept;

// Puts another table in force and returns the one before (null: none was loaded yet; passing null makes the next
// driver() load the real one). The caller keeps it alive as long as it is in force. For another driver library and for
// doubles in unit tests; not while other threads use the layer.
const driver_table* exchange_driver(const driver_table* table) noexcept;

// How many times this process has been forked since it loaded the driver, counted in the child. A forked child of an
// initialised parent can do nothing with its parent's objects: every driver call answers NOT_INITIALIZED there.
[[nodiscard]] unsigned fork_generation() noexcept;

}  // namespace cufault::handles

#endif

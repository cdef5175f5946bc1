// SPDX-License-Identifier: Apache-2.0
// Finds the driver and fills the table of its functions.
#include "cufault/handles/driver_table.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

#include "cufault/handles/error.h"

namespace cufault::handles {
namespace {

constinit std::atomic<const driver_table*> table_in_force{nullptr};
constinit std::atomic<unsigned> forks{0};

template <class Pointer>
void look_up(PFN_cuGetProcAddress_v12000 get_proc_address, driver_function<Pointer>& entry) {
  void* address = nullptr;
  // An unknown name answers SUCCESS with a null pointer, a version above the driver's answers INVALID_VALUE and writes
  // nothing (recorded on driver 580.159.04): either way the entry stays empty.
  if (get_proc_address(entry.name, &address, entry.version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS) {
    entry.address = reinterpret_cast<Pointer>(address);
  }
}

driver_table load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw cuda_error(failure{CUDA_ERROR_NOT_FOUND, true, "dlopen", 0}, why == nullptr ? "" : why);
  }
  const auto get_proc_address = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get_proc_address == nullptr) {
    throw cuda_error(failure{CUDA_ERROR_NOT_FOUND, true, "cuGetProcAddress_v2", 0},
                     "the driver is older than CUDA 12.0");
  }
  driver_table table;
#define CUFAULT_DRIVER_FUNCTION(name, version) look_up(get_proc_address, table.name);
#include "cufault/handles/driver_functions.inc"
#undef CUFAULT_DRIVER_FUNCTION
  if (table.cuDriverGetVersion(&table.driver_version) != CUDA_SUCCESS) {
    table.driver_version = 0;
  }
  pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return table;
}

}  // namespace

const driver_table& driver() {
  if (const driver_table* table = table_in_force.load(std::memory_order_acquire)) {
    return *table;
  }
  static const driver_table loaded = load();
  const driver_table* expected = nullptr;
  table_in_force.compare_exchange_strong(expected, &loaded, std::memory_order_acq_rel);
  return loaded;
}

const driver_table* loaded_driver() noexcept { return table_in_force.load(std::memory_order_acquire); }

const driver_table* exchange_driver(const driver_table* table) noexcept {
  return table_in_force.exchange(table, std::memory_order_acq_rel);
}

unsigned fork_generation() noexcept { return forks.load(std::memory_order_relaxed); }

}  // namespace cufault::handles

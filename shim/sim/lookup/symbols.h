// SPDX-License-Identifier: Apache-2.0
// Which symbol a name and a version mean; generated from shim/spec/driver_api.yaml.
#pragma once

#include <span>

namespace cufault::sim {

struct SymbolRow {
  const char* function;  // the name that cuGetProcAddress is asked for
  const char* symbol;
  int since;        // the first version that means this symbol
  bool per_thread;  // the null stream is the calling thread's
  void* address;
};

// Sorted by function, then by version.
[[nodiscard]] std::span<const SymbolRow> symbol_rows() noexcept;

}  // namespace cufault::sim

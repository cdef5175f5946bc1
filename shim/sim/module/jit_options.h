// SPDX-License-Identifier: Apache-2.0
// The options of loading and linking: checked, and the logs they ask for.
#pragma once

#include <cstddef>
#include <string>

#include "core/api.h"

namespace cufault::sim {

class Call;

class JitOptions {
 public:
  JitOptions() = default;
  // Refuses as recorded (module_options). The arrays must outlive the object.
  JitOptions(const Call& call, unsigned count, CUjit_option* keys, void** values);

  // Writes what fits of a text into the buffer for errors and its size into the option.
  void write_error(const std::string& text) const;

 private:
  char* error_ = nullptr;
  std::size_t error_size_ = 0;
  void** error_size_value_ = nullptr;
};

// The content of a file, with a null at the end. Refuses with FILE_NOT_FOUND.
[[nodiscard]] std::string read_file(const char* path);

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Fuzzes the plan reader: any bytes give a plan or a file_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "error.h"
#include "plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(cufault::judge::decode_plan({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const cufault::judge::file_error&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Fuzzes the observation reader: any text gives events or a file_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "error.h"
#include "observation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(cufault::judge::decode_observation({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const cufault::judge::file_error&) {
  }
  return 0;
}

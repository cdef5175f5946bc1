// SPDX-License-Identifier: Apache-2.0
// Fuzzes plan and judge requests: any text is understood or refused with a request_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "error.h"
#include "plan.h"
#include "verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(cufault::judge::encode_plan(cufault::judge::parse_plan_request(text)));
  } catch (const cufault::judge::request_error&) {
  }
  try {
    static_cast<void>(cufault::judge::parse_judge_request(text));
  } catch (const cufault::judge::request_error&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What the simulator tells its host (the shim), if it has one: see cufault/sim_host.h.
#pragma once

#include <string>

#include "cufault/sim_host.h"
#include "cufault/trace_format.h"

namespace cufault::sim {

// Null without a host.
[[nodiscard]] const cufault_sim_host* host() noexcept;

void report_unmodelled(const char* symbol, const char* what) noexcept;
void report_misuse(cufault_misuse kind, const char* symbol, const void* handle, const std::string& text) noexcept;

// Brackets a call into application code.
class CallbackBracket {
 public:
  CallbackBracket() noexcept;
  ~CallbackBracket();
  CallbackBracket(const CallbackBracket&) = delete;
  CallbackBracket& operator=(const CallbackBracket&) = delete;
};

}  // namespace cufault::sim

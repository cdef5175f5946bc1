// SPDX-License-Identifier: Apache-2.0
// What an entry point without a model does.
#pragma once

#include "core/thread.h"

namespace cufault::sim {

// Reports the call and answers NOT_SUPPORTED, unless the process's state answers first.
[[nodiscard]] CUresult unmodelled(const char* symbol) noexcept;

}  // namespace cufault::sim

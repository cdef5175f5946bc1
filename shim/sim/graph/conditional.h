// SPDX-License-Identifier: Apache-2.0
// Conditional nodes: handles and what they hold.
#pragma once

#include "graph/work.h"

namespace cufault::sim {

// A kernel could set the value at run time; kernels that do not compute leave the default.
[[nodiscard]] bool condition_holds(const ConditionalWork& work);

}  // namespace cufault::sim

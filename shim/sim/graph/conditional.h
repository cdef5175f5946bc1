// SPDX-License-Identifier: Apache-2.0
// Conditional nodes: handles and what they hold.
#pragma once

#include "graph/work.h"

namespace cufault::sim {

class Driver;

[[nodiscard]] CUgraphConditionalHandle make_conditional(Driver& driver, unsigned default_value, unsigned flags);
// A kernel could set the value at run time; kernels here do not, so it is the default.
[[nodiscard]] bool condition_holds(const ConditionalWork& work);

}  // namespace cufault::sim

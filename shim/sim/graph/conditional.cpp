// SPDX-License-Identifier: Apache-2.0
// Conditional handles.
#include "graph/conditional.h"

namespace cufault::sim {

bool condition_holds(const ConditionalWork& work) {
  (void)work;
  return false;
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Conditional handles.
#include "graph/conditional.h"

#include "core/driver.h"
#include "core/handles.h"

namespace cufault::sim {

namespace {

struct Conditional : Object {
  static constexpr Kind kKind = Kind::conditional;
  unsigned value = 0;
};

}  // namespace

CUgraphConditionalHandle make_conditional(Driver& driver, unsigned default_value, unsigned flags) {
  auto conditional = std::make_shared<Conditional>();
  conditional->value = (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0 ? default_value : 0;
  return reinterpret_cast<CUgraphConditionalHandle>(driver.handles->insert(Kind::conditional, std::move(conditional)));
}

bool condition_holds(const ConditionalWork& work) {
  const Found found = Driver::get().handles->find(reinterpret_cast<const void*>(work.handle));
  if (found.state != HandleState::live || found.kind != Kind::conditional) return false;
  return static_cast<const Conditional*>(found.object)->value != 0;
}

}  // namespace cufault::sim

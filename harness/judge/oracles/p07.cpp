// SPDX-License-Identifier: Apache-2.0
// P07: objects stay usable after a failed operation.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p07(const run& of) {
  finder found(author::R, "no operation was retried");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    // Where the driver fails the second attempt too, it shows nothing.
    if (in.verb != "retry" || in.outcome.empty() || !of.failures_of(place).empty()) continue;
    if (in.outcome == "ok") found.exercised(of_step(in, "'" + in.name + "' succeeded"));
    if (!in.raised()) continue;
    std::vector<evidence> proof;
    for (const std::size_t shown_index : of.exceptions_of(place)) proof.push_back(of_shown(of, shown_index));
    found.violated("'" + in.name + "' raised, although no driver call failed in it", std::move(proof), in.end_ns);
  }
  return found.result("each operation succeeded when it was retried");
}

}  // namespace cufault::judge::oracles

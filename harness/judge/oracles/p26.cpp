// SPDX-License-Identifier: Apache-2.0
// P26: the process ends by itself in bounded time.
#include <cufault/plan_format.h>

#include "oracles.h"

namespace cufault::judge::oracles {

finding p26(const run& of) {
  finder found(author::U, "no call failed");
  const observed* end = of.showed.exit();
  if (of.failures.empty() && (end == nullptr || !end->timed_out)) return found.result({});
  if (end == nullptr) {
    found.doubt("nobody saw how the process ended");
  } else if (!end->timed_out) {
    found.exercised(of_exit(of));
  } else if (of.effect_fired(CUFAULT_EFFECT_HANG)) {
    found.doubt("the plan made a call hang");
  } else if (of.failures.empty()) {
    found.doubt("the process ran into its time limit, and no call had failed");
  } else {
    std::vector<evidence> proof = {of_exit(of)};
    for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
      if (of.calls.events[index].is_call() && of.calls.events[index].open) proof.push_back(of_call(of, index));
    }
    proof.push_back(of_call(of, of.failures.back()));
    found.violated("the process did not end by itself after " + of.call(of.failures.back()).name + " had failed",
                   std::move(proof), end->time_ns);
  }
  return found.result("the process ended by itself");
}

}  // namespace cufault::judge::oracles

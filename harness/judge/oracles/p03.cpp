// SPDX-License-Identifier: Apache-2.0
// P03: a handled failure is not blamed on a later call.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p03(const run& of) {
  finder found(author::U, "no operation without a failed call came after one with a failed call");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    if (in.channel == "free" || !in.closed || !of.failures_of(place).empty()) continue;
    const std::vector<std::size_t> raised = of.exceptions_of(place);
    for (const failure& earlier : of.failures) {
      const api::result* result = api::find_result(earlier.code);
      const bool lasting = result != nullptr && result->sticky;
      if (earlier.in_step == nowhere || earlier.in_step >= place || of.call(earlier).pid != in.pid || lasting) continue;
      bool blamed = false;
      for (const std::size_t shown_index : raised) {
        if (!identifies(of.showed.events[shown_index].error, earlier.code)) continue;
        blamed = true;
        found.violated(
            "'" + in.name + "', in which no call failed, raised the error of an earlier " + of.call(earlier).name,
            {of_call(of, earlier), of_shown(of, shown_index)}, of.showed.events[shown_index].time_ns);
      }
      if (!blamed) found.exercised(of_call(of, earlier));
      break;
    }
  }
  return found.result("no operation raised the error of an earlier one");
}

}  // namespace cufault::judge::oracles

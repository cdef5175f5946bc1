// SPDX-License-Identifier: Apache-2.0
// P04: nothing was created by a call that raised.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p04(const run& of) {
  finder found(author::R, "no operation with a failed call raised");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    const std::vector<const failure*> failed = of.failures_of(place);
    // Free code is not one operation: what it made before the one that raised is its own.
    if (!in.raised() || in.channel == "free" || failed.empty()) continue;
    // Clean-up that fails after success may be raised, and what was done stays done.
    if (ends_something(of.call(*failed.front()))) continue;
    found.exercised(of_call(of, *failed.front()));
    for (const object* thing : left_over(of, place)) {
      found.violated(describe(*thing) + " was made by '" + in.name + "', which raised, and was not destroyed",
                     {of_call(of, *failed.front()), of_object(of, *thing)}, end_of_handling(of, place));
    }
    if (in.ends_object()) continue;
    for (const object& thing : of.book.objects) {
      if (thing.names.empty() || thing.died == nowhere || of.step_of_call[thing.died] != place) continue;
      if (of.step_of_call[thing.born] == place) continue;
      found.violated(describe(thing) + " was there before '" + in.name + "', which raised, and is gone after it",
                     {of_call(of, *failed.front()), of_call(of, thing.died)}, of.calls.events[thing.died].begin_ns);
    }
  }
  return found.result("the driver objects after each operation that raised are those before it");
}

}  // namespace cufault::judge::oracles

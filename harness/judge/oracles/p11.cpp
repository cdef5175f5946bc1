// SPDX-License-Identifier: Apache-2.0
// P11: a failure during clean-up after an earlier failure is reported while the original exception propagates.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p11(const run& of) {
  finder found(author::R, "no undo failed after an operation had");
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || in->channel != "raises" || failed.after == nowhere || !ends_something(of.call(failed)))
      continue;
    const failure& first = of.failures[failed.after];
    if (cut_short(of, failed)) {
      found.doubt("the process ended before the operation did");
      continue;
    }
    found.exercised(of_call(of, failed));
    if (!first.shows_as(channel_use::kind::exception)) {
      found.violated("the error of " + of.call(first).name + " did not propagate from '" + in->name + "'",
                     {of_call(of, first), of_call(of, failed)}, settled_ns(of, failed));
    }
    require_beside(of, failed, found);
  }
  return found.result("each failed undo was shown beside the exception that propagated");
}

}  // namespace cufault::judge::oracles

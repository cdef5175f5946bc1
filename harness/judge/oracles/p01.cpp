// SPDX-License-Identifier: Apache-2.0
// P01: a failure that can propagate is raised.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p01(const run& of) {
  finder found(author::R, "no call failed that an exception could have come from");
  for (const failure& failed : of.failures) {
    // Restoring is P09's, an explicit deallocate() P25's.
    if (failed.owes != duty::raise || failed.restore || ends_something(of.call(failed))) continue;
    if (failed.shows_as(channel_use::kind::exception)) {
      found.exercised(of_call(of, failed));
    } else if (cut_short(of, failed)) {
      found.doubt("the process ended before the operation whose call failed did");
    } else {
      found.violated(of.call(failed).name + " failed in '" + of.step_of(failed)->name + "' and no exception left it",
                     {of_call(of, failed)}, settled_ns(of, failed));
    }
  }
  return found.result("each failure that could propagate was raised by the operation it happened in");
}

}  // namespace cufault::judge::oracles

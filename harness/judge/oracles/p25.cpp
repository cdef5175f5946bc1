// SPDX-License-Identifier: Apache-2.0
// P25: an explicit deallocate() raises.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p25(const run& of) {
  finder found(author::R, "no call failed in an explicit deallocate()");
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || in->verb != "deallocate" || failed.owes != duty::raise) continue;
    if (failed.shows_as(channel_use::kind::exception)) {
      found.exercised(of_call(of, failed));
    } else if (cut_short(of, failed)) {
      found.doubt("the process ended before the deallocate() did");
    } else {
      found.violated(of.call(failed).name + " failed in '" + in->name + "', and it did not raise",
                     {of_call(of, failed)}, settled_ns(of, failed));
    }
  }
  return found.result("each explicit deallocate() whose call failed raised");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P15: DEINITIALIZED is not reported from clean-up, and is still raised where an exception can propagate.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p15(const run& of) {
  constexpr int deinitialized = 4;
  finder found(author::R, "no call answered CUDA_ERROR_DEINITIALIZED");
  for (const failure& failed : of.failures) {
    if (failed.code != deinitialized) continue;
    const event& call = of.call(failed);
    if (failed.owes == duty::raise) {
      if (failed.shows_as(channel_use::kind::exception)) {
        found.exercised(of_call(of, failed));
      } else if (cut_short(of, failed)) {
        found.doubt("the process ended before the operation whose call failed did");
      } else {
        found.violated(call.name + " answered CUDA_ERROR_DEINITIALIZED where it could be raised, and was not",
                       {of_call(of, failed)}, settled_ns(of, failed));
      }
      continue;
    }
    const bool may_raise = failed.owes == duty::raise_or_silence;
    if (!may_raise && failed.owes != duty::silence && !(failed.owes == duty::none && ends_something(call))) continue;
    found.exercised(of_call(of, failed));
    for (const channel_use& use : failed.channels) {
      if (may_raise && use.what == channel_use::kind::exception) continue;
      found.violated("CUDA_ERROR_DEINITIALIZED from " + call.name + " was not passed over in silence",
                     {of_call(of, failed), of_channel(of, use)}, settled_ns(of, failed));
    }
  }
  return found.result("CUDA_ERROR_DEINITIALIZED was silent in clean-up and raised where it could be");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P10: an operation's error is not hidden by the restoration's.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p10(const run& of) {
  finder found(author::R, "no operation failed together with its restoration");
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || in->channel != "raises" || !failed.restore || failed.after == nowhere) continue;
    const failure& first = of.failures[failed.after];
    if (ends_something(of.call(first)) || first.restore) continue;
    if (cut_short(of, failed)) {
      found.doubt("the process ended before the operation did");
      continue;
    }
    found.exercised(of_call(of, failed));
    const std::vector<evidence> proof = {of_call(of, first), of_call(of, failed)};
    if (!first.shows_as(channel_use::kind::exception)) {
      found.violated("the error of " + of.call(first).name + " was not what '" + in->name + "' raised", proof,
                     settled_ns(of, failed));
    }
    require_beside(of, failed, found);
  }
  return found.result("each operation's own error was raised, and the restoration's shown beside it");
}

}  // namespace cufault::judge::oracles

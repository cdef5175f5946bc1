// SPDX-License-Identifier: Apache-2.0
// P08: a failed call is never swallowed; it shows in exactly one channel.
#include "oracles.h"

namespace cufault::judge::oracles {

finding p08(const run& of) {
  finder found(author::R, "no call failed whose failure had to show");
  for (const failure& failed : of.failures) {
    // What DEINITIALIZED must show in clean-up is P15's.
    if (failed.owes == duty::none || failed.owes == duty::silence) continue;
    const event& call = of.call(failed);
    const std::size_t channels = failed.channels.size();
    if (channels == 0 && failed.owes != duty::raise_or_silence) {
      if (cut_short(of, failed)) {
        found.doubt("the process ended before the failure could show");
      } else if (failed.owes != duty::raise && of.showed.program_filters_warnings(call.pid)) {
        found.doubt("the program's own warning filter may have hidden the report of " + call.name);
      } else {
        found.violated(call.name + " answered " + api::result_text(failed.code) + ", and that shows nowhere",
                       {of_call(of, failed)}, settled_ns(of, failed));
      }
      continue;
    }
    if (channels > 1) {
      std::vector<evidence> proof = {of_call(of, failed)};
      for (const channel_use& use : failed.channels) proof.push_back(of_channel(of, use));
      found.violated("the failure of " + call.name + " shows in " + std::to_string(channels) + " channels",
                     std::move(proof), settled_ns(of, failed));
      continue;
    }
    found.exercised(of_call(of, failed));
  }
  return found.result("each failure shows in exactly one channel");
}

}  // namespace cufault::judge::oracles

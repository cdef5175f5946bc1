// SPDX-License-Identifier: Apache-2.0
// P08: a failed call is never swallowed; it shows in exactly one channel.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// The exception of an earlier failure may mention a later one that was reported too: that is no channel of its own.
std::size_t count_channels(const run& of, const failure& failed) {
  const bool reported = std::any_of(failed.channels.begin(), failed.channels.end(),
                                    [&of](const channel_use& use) { return of.is_report(use); });
  if (failed.after == nowhere || !reported) return failed.channels.size();
  return static_cast<std::size_t>(
      std::count_if(failed.channels.begin(), failed.channels.end(),
                    [](const channel_use& use) { return use.what != channel_use::kind::exception; }));
}

}  // namespace

finding p08(const run& of) {
  finder found(author::R, "no call failed whose failure had to show");
  for (const failure& failed : of.failures) {
    // What DEINITIALIZED must show in clean-up is P15's.
    if (failed.owes == duty::none || failed.owes == duty::silence) continue;
    const event& call = of.call(failed);
    const std::size_t channels = count_channels(of, failed);
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

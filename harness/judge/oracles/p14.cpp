// SPDX-License-Identifier: Apache-2.0
// P14: an escalated report from a destructor arrives through sys.unraisablehook.
#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// A step of the vocabulary's verb `warnings` sets the filter, and its name says which.
bool is_escalated(const run& of, const failure& failed) {
  bool escalated = false;
  for (std::size_t place = 0; place < failed.in_step; ++place) {
    const step& in = of.steps[place];
    if (in.verb == "warnings" && in.pid == of.call(failed).pid) {
      escalated = has_word(in.name, "error") || has_word(in.object, "error");
    }
  }
  return escalated;
}

}  // namespace

finding p14(const run& of) {
  finder found(author::R, "no report was escalated");
  constexpr int deinitialized = 4;
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || in->channel != "implicit" || failed.code == deinitialized || !is_escalated(of, failed))
      continue;
    bool arrived = false;
    for (const channel_use& use : failed.channels) {
      arrived = arrived || (use.what == channel_use::kind::unraisable && of.is_report(use));
    }
    if (arrived) {
      found.exercised(of_call(of, failed));
    } else if (cut_short(of, failed)) {
      found.doubt("the process ended before the report could arrive");
    } else {
      std::vector<evidence> proof = {of_call(of, failed)};
      for (const channel_use& use : failed.channels) proof.push_back(of_channel(of, use));
      found.violated("the escalated report of " + of.call(failed).name + "'s failure did not arrive as an unraisable " +
                         of.by->report_category,
                     std::move(proof), settled_ns(of, failed));
    }
  }
  return found.result("each escalated report arrived through sys.unraisablehook");
}

}  // namespace cufault::judge::oracles

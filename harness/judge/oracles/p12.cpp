// SPDX-License-Identifier: Apache-2.0
// P12: a failure that cannot be raised is reported as the profile's warning, and in no other way.
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

std::string how(const run& of, const channel_use& use) {
  const observed& event = of.showed.events[use.shown];
  switch (use.what) {
    case channel_use::kind::exception:
      return "raised out of a place that nothing can be raised from";
    case channel_use::kind::warning:
      return "warned of as " + event.error.type + ", not as " + of.by->report_category;
    case channel_use::kind::unraisable:
      return "left to sys.unraisablehook as " + event.error.type;
    case channel_use::kind::text:
      return "written to stderr";
    case channel_use::kind::report:
      return "reported";
  }
  return {};
}

}  // namespace

finding p12(const run& of) {
  finder found(author::R, "no clean-up failed whose failure could only be reported");
  for (const failure& failed : of.failures) {
    const bool only_report = failed.owes == duty::report;
    // Where both are right and it was raised, there is nothing to report.
    const bool may_report =
        failed.owes == duty::raise_or_report && failed.cleanup && !failed.shows_as(channel_use::kind::exception);
    if (!only_report && !may_report) continue;
    const event& call = of.call(failed);
    if (failed.channels.empty()) {
      if (cut_short(of, failed)) {
        found.doubt("the process ended before the failure could be reported");
      } else if (of.showed.program_filters_warnings(call.pid)) {
        found.doubt("the program's own warning filter may have hidden the report of " + call.name);
      } else {
        found.violated("the failure of " + call.name + " was not reported", {of_call(of, failed)},
                       settled_ns(of, failed));
      }
      continue;
    }
    found.exercised(of_call(of, failed));
    for (const channel_use& use : failed.channels) {
      if (of.is_report(use)) continue;
      found.violated("the failure of " + call.name + " was " + how(of, use), {of_call(of, failed), of_channel(of, use)},
                     settled_ns(of, failed));
    }
  }
  return found.result("each failure that could not be raised was reported as " + of.by->report_category);
}

}  // namespace cufault::judge::oracles

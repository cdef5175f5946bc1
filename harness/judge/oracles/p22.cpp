// SPDX-License-Identifier: Apache-2.0
// P22: during interpreter finalization no Python work is done from destructors or callbacks; what needs it is leaked.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

bool unhandled(const run& of) {
  return std::any_of(of.showed.events.begin(), of.showed.events.end(),
                     [](const observed& event) { return event.what == shown::exception && !event.handled; });
}

// Objects that the library still had when finalization began.
bool had_objects(const run& of, std::uint32_t pid, std::uint64_t finalizing) {
  return std::any_of(of.book.objects.begin(), of.book.objects.end(), [&](const object& thing) {
    if (thing.pid != pid || thing.born == nowhere || !api::kinds()[thing.kind].owned) return false;
    if (of.calls.events[thing.born].begin_ns >= finalizing) return false;
    return thing.died == nowhere || of.calls.events[thing.died].begin_ns >= finalizing;
  });
}

}  // namespace

finding p22(const run& of) {
  constexpr int deinitialized = 4;
  finder found(author::R, "no interpreter finalized with driver objects left");
  for (const observed& event : of.showed.events) {
    if (event.what != shown::finalizing || !had_objects(of, event.pid, event.time_ns)) continue;
    const observed* end = of.showed.exit();
    if (end == nullptr || end->timed_out) {
      found.doubt("nobody saw how the finalization ended");
      continue;
    }
    found.exercised(of_exit(of));
    std::vector<evidence> proof;
    for (const failure& failed : of.failures) {
      const judge::event& call = of.call(failed);
      if (call.pid != event.pid || call.begin_ns < event.time_ns) continue;
      proof.push_back(of_call(of, failed));
      for (const channel_use& use : failed.channels) {
        // Where the interpreter cannot be used, stderr is the fallback; for this one code there is nothing to say.
        if (use.what == channel_use::kind::text && failed.code != deinitialized) continue;
        found.violated("the failure of " + call.name + " during finalization came out as " + of_channel(of, use).what,
                       {of_call(of, failed), of_channel(of, use)}, end->time_ns);
      }
    }
    const bool spoilt = !end->signal.empty() || (end->status != 0 && !unhandled(of));
    if (spoilt && !proof.empty()) {
      proof.push_back(of_exit(of));
      found.violated("failures during finalization changed how the process ended", proof, end->time_ns);
    }
  }
  return found.result("finalization was quiet and did not change how the process ended");
}

}  // namespace cufault::judge::oracles

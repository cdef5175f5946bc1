// SPDX-License-Identifier: Apache-2.0
// P06: context switching goes through the scoped helpers only.
#include <map>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

struct thread_view {
  int creations = 0;            // contexts created and left on the stack
  std::size_t enter = nowhere;  // the last switch away that nothing has answered yet
};

}  // namespace

finding p06(const run& of) {
  finder found(author::R, "no operation switched contexts");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    if (in.channel == "free" || in.changes_context) continue;
    std::map<std::uint32_t, thread_view> threads;
    for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
      const event& call = of.calls.events[index];
      if (of.step_of_call[index] != place || !call.is_call() || call.entry == nullptr) continue;
      if (call.has(CUFAULT_CALL_NESTED)) continue;
      thread_view& view = threads[call.thread];
      if (call.entry->switching == api::switches::create && call.happened()) ++view.creations;
      if (!switches_context(call)) continue;
      found.exercised(of_call(of, index));
      const bool undoes_creation = call.entry->switching == api::switches::pop && view.creations > 0;
      if (undoes_creation) --view.creations;
      if (call.entry->switching != api::switches::set && !undoes_creation) {
        found.violated("'" + in.name + "' switched contexts with " + call.name, {of_call(of, index)}, call.begin_ns);
      }
      // A restoration that failed was still attempted: what it left is P09's and P17's.
      if (call.has(CUFAULT_CALL_RESTORE)) view.enter = nowhere;
      if (call.has(CUFAULT_CALL_ENTER) && call.happened()) view.enter = index;
    }
    for (const auto& [thread, view] : threads) {
      static_cast<void>(thread);
      if (view.enter == nowhere || !in.closed) continue;
      found.violated("'" + in.name + "' entered a context and did not restore the caller's", {of_call(of, view.enter)},
                     in.end_ns);
    }
  }
  return found.result("each switch was a set with its restoration");
}

}  // namespace cufault::judge::oracles

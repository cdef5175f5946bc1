// SPDX-License-Identifier: Apache-2.0
// P24: set_current is one cuCtxSetCurrent; failing leaves the previous context current; it works when none is.
#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

finding p24(const run& of) {
  finder found(author::R, "no set_current switched contexts");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    if (in.verb != "set_current") continue;
    std::vector<evidence> sets;
    std::vector<evidence> others;
    for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
      const event& call = of.calls.events[index];
      if (of.step_of_call[index] != place || !switches_context(call) || call.thread != in.thread) continue;
      (call.entry->switching == api::switches::set ? sets : others).push_back(of_call(of, index));
    }
    for (const evidence& call : sets) found.exercised(call);
    if (!others.empty()) {
      found.violated("'" + in.name + "' pushed or popped a context", others, others.back().time_ns);
    }
    if (sets.size() > 1) {
      found.violated("'" + in.name + "' made " + std::to_string(sets.size()) + " cuCtxSetCurrent calls", sets,
                     sets.back().time_ns);
    }
    bool untouched = true;  // the driver was kept from switching, so that nothing but the library could have
    const std::vector<const failure*> failed = of.failures_of(place);
    for (const failure* one : failed) untouched = untouched && of.call(*one).real != 0;
    if (!failed.empty() && untouched && in.context_begin && in.context_end) {
      found.exercised(of_call(of, *failed.front()));
      if (*in.context_begin != *in.context_end) {
        found.violated(
            "a failed '" + in.name + "' left " + hex(*in.context_end) + " current, not " + hex(*in.context_begin),
            {of_call(of, *failed.front())}, in.end_ns);
      }
    }
    if (failed.empty() && in.raised() && in.context_begin == std::uint64_t{0}) {
      found.violated("'" + in.name + "' does not work when no context is current",
                     {of_step(in, "no context was current, no call failed, and it raised")}, in.end_ns);
    }
  }
  return found.result("set_current was one cuCtxSetCurrent");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P05: the caller's current context is as it was found.
#include <algorithm>
#include <map>

#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// The context itself went meanwhile, so that it cannot be current again.
bool died_in(const run& of, std::uint64_t context, std::size_t place) {
  return std::any_of(of.book.objects.begin(), of.book.objects.end(), [&](const object& thing) {
    const bool is_context = thing.kind_name() == "context" || thing.kind_name() == "primary_context";
    return is_context && thing.handle == context && thing.died != nowhere && of.step_of_call[thing.died] == place;
  });
}

struct thread_view {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::size_t last = nowhere;
  bool known = false;
};

}  // namespace

finding p05(const run& of) {
  finder found(author::R, "no operation switched contexts or had a failed call");
  for (std::size_t place = 0; place < of.steps.size(); ++place) {
    const step& in = of.steps[place];
    if (in.channel == "free" || in.changes_context || in.verb == "foreign_context") continue;
    const std::vector<const failure*> failed = of.failures_of(place);
    std::map<std::uint32_t, thread_view> threads;
    std::size_t reason = failed.empty() ? nowhere : failed.front()->call;
    for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
      const event& call = of.calls.events[index];
      if (of.step_of_call[index] != place || !call.is_call() || call.open) continue;
      if (switches_context(call) && reason == nowhere) reason = index;
      if (!call.has(CUFAULT_CALL_CONTEXT_KNOWN)) continue;
      thread_view& view = threads[call.thread];
      if (!view.known) view.before = call.context_before;
      view.known = true;
      view.after = call.context_after;
      view.last = index;
    }
    if (reason == nowhere) continue;
    if (in.context_begin && in.context_end) {
      thread_view& view = threads[in.thread];
      view.known = true;
      view.before = *in.context_begin;
      view.after = *in.context_end;
    }
    for (const auto& [thread, view] : threads) {
      if (!view.known) continue;
      const std::uint32_t ordinal = thread;
      // Where restoring is what failed, P09 and P17 say what must be.
      const bool not_restored = std::any_of(failed.begin(), failed.end(), [&](const failure* one) {
        return one->restore && of.call(*one).thread == ordinal;
      });
      if (not_restored || died_in(of, view.before, place)) continue;
      found.exercised(of_call(of, reason));
      if (view.before == view.after) continue;
      std::vector<evidence> proof = {
          of_step(in, "current before: " + hex(view.before) + ", after: " + hex(view.after))};
      proof.push_back(of_call(of, view.last == nowhere ? reason : view.last));
      found.violated("'" + in.name + "' left " + hex(view.after) + " current on thread " + std::to_string(ordinal) +
                         " where it had found " + hex(view.before),
                     std::move(proof), in.end_ns);
    }
  }
  return found.result("after each operation the context that it found was current");
}

}  // namespace cufault::judge::oracles

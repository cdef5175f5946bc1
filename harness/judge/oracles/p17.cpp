// SPDX-License-Identifier: Apache-2.0
// P17: clean-up whose context cannot be entered is skipped and reported; whose restoration fails, reported.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

bool same_thread(const run& of, const failure& failed, std::size_t index) {
  const event& call = of.calls.events[index];
  const event& first = of.call(failed);
  return call.is_call() && of.step_of_call[index] == failed.in_step && call.pid == first.pid &&
         call.thread == first.thread;
}

const object* ended_by(const run& of, std::size_t call) {
  for (const object& thing : of.book.objects) {
    if (std::find(thing.attempts.begin(), thing.attempts.end(), call) != thing.attempts.end()) return &thing;
  }
  return nullptr;
}

// After an entering that failed: a destroy of an object of that context, in another one.
void must_skip(const run& of, const failure& failed, finder& found) {
  const std::uint64_t target = of.call(failed).args[0];
  for (std::size_t index = failed.call + 1; index < of.calls.events.size(); ++index) {
    if (!same_thread(of, failed, index)) continue;
    const event& call = of.calls.events[index];
    if (switches_context(call) && call.succeeded()) return;
    if (!ends_something(call) || call.context_before == target) continue;
    const object* thing = ended_by(of, index);
    if (thing == nullptr || thing->owner != target) continue;
    found.violated(describe(*thing) + " was to be destroyed although its context could not be entered",
                   {of_call(of, failed), of_call(of, index)}, call.begin_ns);
  }
}

// After a restoration that failed the thread keeps the clean-up's context.
void must_keep(const run& of, const failure& failed, finder& found) {
  for (std::size_t index = failed.call + 1; index < of.calls.events.size(); ++index) {
    if (!same_thread(of, failed, index)) continue;
    const event& call = of.calls.events[index];
    if (call.has(CUFAULT_CALL_ENTER)) return;
    if (call.has(CUFAULT_CALL_RESTORE)) {
      found.violated("the context was restored by a second attempt after the first had failed",
                     {of_call(of, failed), of_call(of, index)}, call.begin_ns);
      return;
    }
  }
}

}  // namespace

finding p17(const run& of) {
  finder found(author::R, "no clean-up failed to enter its context or to restore the caller's");
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || !(failed.enter || failed.restore)) continue;
    if (!in->ends_object() && in->channel != "implicit") continue;
    found.exercised(of_call(of, failed));
    const bool must_show = failed.owes != duty::silence && failed.owes != duty::raise_or_silence;
    if (must_show && failed.channels.empty()) {
      if (cut_short(of, failed)) {
        found.doubt("the process ended before the clean-up did");
      } else if (of.showed.program_filters_warnings(in->pid)) {
        found.doubt("the program's own warning filter may have hidden the report");
      } else {
        found.violated(std::string(failed.enter ? "a clean-up could not enter its context"
                                                : "a clean-up could not restore the caller's context") +
                           ", and that was not reported",
                       {of_call(of, failed)}, settled_ns(of, failed));
      }
    }
    if (failed.enter) must_skip(of, failed, found);
    if (failed.restore) must_keep(of, failed, found);
  }
  return found.result("each clean-up that could not switch contexts was reported, and skipped or left where it was");
}

}  // namespace cufault::judge::oracles

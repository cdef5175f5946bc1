// SPDX-License-Identifier: Apache-2.0
// P20: restoration is not retried; sticky errors are neither retried nor hidden.
#include <cufault/plan_format.h>

#include <algorithm>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

bool same_call(const event& left, const event& right) {
  return left.name == right.name && left.argc == right.argc && left.args == right.args;
}

// The calls that the same thread made later in the same step, without those that only ask for an error's name.
std::vector<std::size_t> later_calls(const run& of, const failure& failed) {
  const event& first = of.call(failed);
  std::vector<std::size_t> found;
  for (std::size_t index = failed.call + 1; index < of.calls.events.size(); ++index) {
    const event& call = of.calls.events[index];
    if (!call.is_call() || call.pid != first.pid || call.thread != first.thread) continue;
    if (of.step_of_call[index] != failed.in_step || call.function().starts_with("cuGetError")) continue;
    found.push_back(index);
  }
  return found;
}

void restored_again(const run& of, const failure& failed, finder& found) {
  for (const std::size_t index : later_calls(of, failed)) {
    const event& call = of.calls.events[index];
    if (call.has(CUFAULT_CALL_ENTER)) return;
    if (!call.has(CUFAULT_CALL_RESTORE)) continue;
    found.violated("restoring the context was tried again after it had failed",
                   {of_call(of, failed), of_call(of, index)}, call.begin_ns);
    return;
  }
}

bool is_sticky(const run& of, const failure& failed) {
  const api::result* result = api::find_result(failed.code);
  return (result != nullptr && result->sticky) || of.effect_of(of.call(failed)) == CUFAULT_EFFECT_STICKY;
}

}  // namespace

finding p20(const run& of) {
  finder found(author::R, "no restoration and no call failed that must not be tried again");
  for (const failure& failed : of.failures) {
    const event& call = of.call(failed);
    if (failed.restore) {
      found.exercised(of_call(of, failed));
      restored_again(of, failed, found);
    }
    if (failed.in_step == nowhere || !is_sticky(of, failed)) continue;
    found.exercised(of_call(of, failed));
    const std::vector<std::size_t> later = later_calls(of, failed);
    if (!failed.restore && !later.empty() && same_call(call, of.calls.events[later.front()])) {
      found.violated(call.name + " was tried again after " + api::result_text(failed.code),
                     {of_call(of, failed), of_call(of, later.front())}, of.calls.events[later.front()].begin_ns);
    }
    const bool may_be_silent = failed.owes == duty::none || failed.owes == duty::silence;
    const bool filtered = failed.owes != duty::raise && of.showed.program_filters_warnings(call.pid);
    if (failed.channels.empty() && !may_be_silent && !filtered && !cut_short(of, failed)) {
      found.violated(api::result_text(failed.code) + " from " + call.name + " was hidden", {of_call(of, failed)},
                     settled_ns(of, failed));
    }
  }
  return found.result("nothing was tried again, and each sticky error shows");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P09: a failed restoration after a successful operation undoes it and is raised, with a word about the context.
#include <algorithm>

#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

std::uint64_t current_after(const run& of, const failure& failed) {
  const event& restore = of.call(failed);
  std::uint64_t context = restore.context_after;
  for (std::size_t index = failed.call; index < of.calls.events.size(); ++index) {
    const event& call = of.calls.events[index];
    if (of.step_of_call[index] != failed.in_step || call.pid != restore.pid || call.thread != restore.thread) continue;
    if (call.is_call() && call.has(CUFAULT_CALL_CONTEXT_KNOWN)) context = call.context_after;
  }
  return context;
}

bool says_context(std::string_view text, std::uint64_t context) {
  if (context != 0) return has_number(text, context);
  return has_number(text, 0) || contains_ignoring_case(text, "no context") || has_word(text, "None") ||
         contains_ignoring_case(text, "null");
}

}  // namespace

finding p09(const run& of) {
  finder found(author::R, "no restoration failed after an operation that can raise");
  for (const failure& failed : of.failures) {
    if (!failed.restore || failed.owes != duty::raise) continue;
    const event& call = of.call(failed);
    const std::string code = api::result_text(failed.code);
    const auto use = std::find_if(failed.channels.begin(), failed.channels.end(), [](const channel_use& candidate) {
      return candidate.what == channel_use::kind::exception;
    });
    if (use == failed.channels.end()) {
      if (cut_short(of, failed)) {
        found.doubt("the process ended before the operation whose restoration failed did");
      } else {
        found.violated("restoring the context failed with " + code + ", and that was not raised", {of_call(of, failed)},
                       settled_ns(of, failed));
      }
      continue;
    }
    const observed& raised = of.showed.events[use->shown];
    const std::vector<evidence> proof = {of_call(of, failed), of_shown(of, use->shown)};
    found.exercised(proof.front());
    if (!identifies(raised.error, failed.code)) {
      found.violated("what was raised is not the restoration's status " + code, proof, raised.time_ns);
    }
    const std::string text = whole_text(raised.error);
    const std::uint64_t current = current_after(of, failed);
    if (call.has(CUFAULT_CALL_CONTEXT_KNOWN) && !says_context(text, current)) {
      found.violated("the message does not say that " + (current == 0 ? std::string("no context") : hex(current)) +
                         " is current now",
                     proof, raised.time_ns);
    }
    const std::vector<std::string>& words = of.by->recovery;
    if (std::none_of(words.begin(), words.end(), [&](const std::string& word) { return has_word(text, word); })) {
      found.violated("the message does not say what to call to recover", proof, raised.time_ns);
    }
    for (const object* thing : left_over(of, failed.in_step)) {
      found.violated(describe(*thing) + " was not undone after restoring the context failed",
                     {of_call(of, failed), of_object(of, *thing)}, end_of_handling(of, failed.in_step));
    }
  }
  return found.result("each failed restoration undid its operation and was raised with word of the current context");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P13: a report names the failing call, the handle and the CUDA error.
#include <optional>

#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// The object that the call was to end, or the context that it was to switch to; nothing where it is a mere number.
std::optional<std::uint64_t> handle_of(const event& call) {
  if (call.entry == nullptr) return std::nullopt;
  constexpr std::uint64_t least_handle = 4096;  // below there are device ordinals and stream tokens
  for (const api::role& role : call.entry->roles) {
    const bool meant = role.what == api::verb::destroys || role.what == api::verb::releases || switches_context(call);
    if (meant && !role.pointer && role.arg < CUFAULT_TRACE_ARGS && call.args[role.arg] >= least_handle) {
      return call.args[role.arg];
    }
  }
  return std::nullopt;
}

}  // namespace

finding p13(const run& of) {
  finder found(author::M, "nothing was reported");
  for (const failure& failed : of.failures) {
    const event& call = of.call(failed);
    const std::string name = api::result_text(failed.code);
    for (const channel_use& use : failed.channels) {
      if (!of.is_report(use)) continue;
      const observed& shown_event = of.showed.events[use.shown];
      const std::string text = whole_text(shown_event.error);
      const std::vector<evidence> proof = {of_call(of, failed), of_channel(of, use)};
      found.exercised(proof.front());
      if (!has_word(text, name) && !(api::find_result(failed.code) == nullptr && identifies(text, failed.code))) {
        found.violated(author::R, "the report of " + call.name + "'s failure does not name " + name, proof,
                       shown_event.time_ns);
      }
      if (!names_function(text, call.function())) {
        found.violated("the report does not name " + std::string(call.function()), proof, shown_event.time_ns);
      }
      const std::optional<std::uint64_t> handle = handle_of(call);
      if (handle && !has_number(text, *handle)) {
        found.violated("the report of " + call.name + "'s failure does not name the handle " + hex(*handle), proof,
                       shown_event.time_ns);
      }
    }
  }
  return found.result("each report names the call, the handle and the error");
}

}  // namespace cufault::judge::oracles

// SPDX-License-Identifier: Apache-2.0
// P02: the original CUresult survives in the exception.
#include <algorithm>
#include <cctype>

#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

bool is_generic(const exception_info& error) {
  const bool builtin = error.module.empty() || error.module == "builtins";
  return builtin && (error.type == "RuntimeError" || error.type == "Exception" || error.type == "BaseException");
}

std::string own_text(const exception_info& error) {
  std::string text = error.message;
  for (const std::string& note : error.notes) text += "\n" + note;
  return text;
}

// Whether the driver could give no name: it is shutting down, the code has none, or asking for it failed.
bool nameless(const run& of, const failure& failed) {
  constexpr int deinitialized = 4;
  if (failed.code == deinitialized || api::find_result(failed.code) == nullptr) return true;
  return std::any_of(of.calls.events.begin(), of.calls.events.end(), [&](const event& call) {
    return call.failed() && call.function() == "cuGetErrorName" && call.begin_ns >= of.call(failed).begin_ns;
  });
}

// Some words beside the name.
bool describes(std::string text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
  return std::count_if(text.begin(), text.end(),
                       [](char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }) >= 4;
}

}  // namespace

finding p02(const run& of) {
  finder found(author::R, "no failed call was raised");
  for (const failure& failed : of.failures) {
    // What a later failure of the same step adds to the exception is P10's and P11's.
    if (failed.after != nowhere) continue;
    for (const channel_use& use : failed.channels) {
      if (use.what != channel_use::kind::exception) continue;
      const observed& raised = of.showed.events[use.shown];
      const std::string text = own_text(raised.error);
      const std::string name = api::result_text(failed.code);
      const std::vector<evidence> proof = {of_call(of, failed), of_shown(of, use.shown)};
      found.exercised(proof.front());
      const bool named = has_word(text, name);
      const bool numbered = nameless(of, failed) && has_number(text, static_cast<std::uint64_t>(failed.code));
      if (is_generic(raised.error)) {
        found.violated(
            of.call(failed).name + " answered " + name + ", which was raised as a generic " + raised.error.type, proof,
            raised.time_ns);
      } else if (!named && !numbered) {
        found.violated("the message of " + raised.error.type + " does not name " + name + ", which " +
                           of.call(failed).name + " answered",
                       proof, raised.time_ns);
      } else if (named && !describes(text, name)) {
        found.violated("the message of " + raised.error.type + " does not describe " + name, proof, raised.time_ns);
      }
      if (raised.error.code != failed.code) {
        found.violated(author::U, raised.error.type + " does not carry " + name + " as an attribute", proof,
                       raised.time_ns);
      }
    }
  }
  return found.result("each raised failure carries the driver's own code");
}

}  // namespace cufault::judge::oracles

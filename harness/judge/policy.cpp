// SPDX-License-Identifier: Apache-2.0
// Look-ups in the tables of rules and profiles.
#include "policy.h"

#include <fnmatch.h>

#include <algorithm>

namespace cufault::judge {

treatment profile::of(const rule_info& rule, author by) const {
  const auto exception = rules.find(std::string(rule.id));
  if (exception != rules.end()) return exception->second;
  return counts[static_cast<std::size_t>(by)];
}

bool profile::expects(const event& call) const {
  const std::string function(call.function());
  const std::string code = api::result_text(call.given);
  return std::any_of(expected.begin(), expected.end(), [&](const expected_answer& answer) {
    const bool fits = std::any_of(answer.functions.begin(), answer.functions.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), function.c_str(), 0) == 0;
    });
    return fits &&
           (answer.codes.empty() || std::find(answer.codes.begin(), answer.codes.end(), code) != answer.codes.end());
  });
}

const rule_info* find_rule(std::string_view id) {
  for (const rule_info& rule : rules()) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

const profile* find_profile(std::string_view name) {
  for (const profile& candidate : profiles()) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::string_view letter(author by) {
  switch (by) {
    case author::R:
      return "R";
    case author::M:
      return "M";
    case author::U:
      return "U";
  }
  return "R";
}

}  // namespace cufault::judge

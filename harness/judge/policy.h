// SPDX-License-Identifier: Apache-2.0
// The rules of the policy and the profiles of libraries, as harness/policy/*.yaml states them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace.h"

namespace cufault::judge {

// Who states a rule: the document, the project that adopted it, any user.
enum class author : std::uint8_t { R, M, U };

enum class treatment : std::uint8_t { violation, hazard, off };

enum class close_way : std::uint8_t { raises, reports, either };

// How a failure that came after the raised one shows: as a report of its own, or as a note of the exception.
enum class beside_way : std::uint8_t { report, note, either };

struct rule_info {
  std::string_view id;
  author by;
  std::string_view title;
  std::string_view text;
  std::string_view shown;
};

struct expected_answer {
  std::vector<std::string> functions;  // plain names or globs
  std::vector<std::string> codes;      // none: any
  std::string why;
};

struct profile {
  std::string name;
  std::string means;
  std::array<treatment, 3> counts;  // by author
  std::map<std::string, treatment> rules;
  std::string report_category;
  std::string report_base;
  std::vector<std::string> recovery;
  close_way close;
  beside_way beside;
  std::vector<expected_answer> expected;

  // How a problem of that rule counts that `by` states.
  [[nodiscard]] treatment of(const rule_info& rule, author by) const;
  // The call's answer is no failure.
  [[nodiscard]] bool expects(const event& call) const;
};

// Sorted by id.
[[nodiscard]] std::span<const rule_info> rules();
[[nodiscard]] std::span<const profile> profiles();

// nullptr where there is none of that name.
[[nodiscard]] const rule_info* find_rule(std::string_view id);
[[nodiscard]] const profile* find_profile(std::string_view name);

[[nodiscard]] std::string_view letter(author by);

}  // namespace cufault::judge

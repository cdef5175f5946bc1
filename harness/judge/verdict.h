// SPDX-License-Identifier: Apache-2.0
// The verdict on a run: what the oracles found, weighed by the profile and compared with what the scenario asks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding.h"
#include "run.h"

namespace cufault::judge {

enum class decision : std::uint8_t { pass, violation, not_exercised, inconclusive, harness_error };

// 0 pass, 1 violation, 3 not exercised or inconclusive, 4 harness error.
[[nodiscard]] int exit_status(decision verdict);
// "not_exercised"
[[nodiscard]] std::string_view name_of(decision verdict);

struct expected_raise {
  std::string step, code, type;  // empty: any
};

struct expected_report {
  std::string step, category, handle;  // empty: any
  std::vector<std::string> names;
  std::optional<std::uint64_t> count;
};

struct expectations {
  std::vector<expected_raise> raises;
  std::vector<expected_report> reported;
  std::vector<std::string> silent, indeterminate, leaked, destroyed, context_unchanged;
  std::string ends;  // "normally", "signal", "timeout" or a status
};

struct fault_request {
  std::string label;
  bool must_fire = true;
};

struct judge_request {
  std::string run_folder;
  std::string profile_name;
  std::vector<std::string> rules;
  std::map<std::string, std::string> not_applicable;
  std::vector<fault_request> faults;
  expectations expect;
};

// Throws request_error, also for a rule that no oracle judges and for a profile that does not exist.
[[nodiscard]] judge_request parse_judge_request(std::string_view json_text);

struct expectation {
  std::string text;
  bool met = false;
  std::string reason;
};

// In the order of the request.
[[nodiscard]] std::vector<expectation> compare(const run& of, const expectations& expect);

struct fault_result {
  std::string label;
  std::uint64_t matched = 0;
  std::uint64_t fired = 0;
  std::string code;      // empty: the effect has none
  std::string standing;  // observed, documented, implausible; empty: it never fired, or has no code
  std::vector<std::string> at;
};

// One for each rule of the plan.
[[nodiscard]] std::vector<fault_result> fault_results(const run& of);

// What is known of drivers that answer that code from that function.
[[nodiscard]] std::string_view standing_of(const api::symbol& entry, int code);

// The whole verdict as JSON (harness/FORMATS.md). Reads the run folder; what cannot be read becomes a harness error.
// Throws request_error.
[[nodiscard]] std::string judge(std::string_view request_json);

// The same for a run that is at hand.
[[nodiscard]] std::string judge(const run& of, const judge_request& request);

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// What became of each rule of the plan, and how plausible its code is.
#include <cufault/plan_format.h>

#include <algorithm>

#include "text.h"
#include "verdict.h"

namespace cufault::judge {

namespace {

constexpr std::size_t most_places = 20;
constexpr int deinitialized = 4;

bool hides(const plan_rule& rule, const std::string& name) {
  return rule.effect == CUFAULT_EFFECT_MISSING &&
         std::any_of(rule.symbols.begin(), rule.symbols.end(), [&](const std::string& symbol) {
           const api::symbol* entry = api::find_symbol(symbol);
           return symbol == name || (entry != nullptr && entry->function == name);
         });
}

// The least plausible of all that it did is what a reader has to know.
std::string_view worse(std::string_view left, std::string_view right) {
  const auto rank = [](std::string_view standing) {
    return standing == "implausible" ? 3 : standing == "documented" ? 2 : standing == "observed" ? 1 : 0;
  };
  return rank(left) >= rank(right) ? left : right;
}

}  // namespace

std::string_view standing_of(const api::symbol& entry, int code) {
  // Recorded: once the driver is shutting down, every call answers this (shim/spec/fault_states.yaml, after_shutdown).
  if (code == deinitialized) return "observed";
  const api::result* result = api::find_result(code);
  const bool sticky = result != nullptr && result->sticky;
  if (sticky && api::answers_sticky_fault(entry)) return "observed";
  if (api::is_documented(entry, code)) return "documented";
  // The header lets most functions answer the code of an earlier launch; those recorded to go on as before do not.
  if (sticky && !api::survives_sticky_fault(entry)) return "documented";
  return "implausible";
}

std::vector<fault_result> fault_results(const run& of) {
  std::vector<fault_result> results;
  if (!of.planned) return results;
  for (const plan_rule& rule : of.planned->rules) {
    fault_result result;
    result.label = rule.label;
    if (rule.code != 0) result.code = api::result_text(rule.code);
    if (rule.effect == CUFAULT_EFFECT_DEINITIALIZE) result.code = api::result_text(deinitialized);
    results.push_back(std::move(result));
  }
  std::vector<std::uint64_t> counted(results.size());
  std::vector<std::string_view> standing(results.size());
  for (const event& record : of.calls.events) {
    if (record.is_call() && record.rule >= 1 && record.rule <= results.size()) {
      fault_result& result = results[record.rule - 1];
      result.fired += 1;
      if (record.has(CUFAULT_CALL_MATCHED)) result.matched = std::max(result.matched, record.ordinal);
      if (result.at.size() < most_places) result.at.push_back(render(record, of.calls));
      if (record.entry != nullptr && record.has(CUFAULT_CALL_INJECTED)) {
        standing[record.rule - 1] = worse(standing[record.rule - 1], standing_of(*record.entry, record.given));
      }
    } else if (record.type == CUFAULT_RECORD_LOOKUP && record.kind == CUFAULT_LOOKUP_HIDDEN) {
      for (std::size_t index = 0; index < results.size(); ++index) {
        if (!hides(of.planned->rules[index], record.text)) continue;
        results[index].fired += 1;
        results[index].matched += 1;
        if (results[index].at.size() < most_places) {
          results[index].at.push_back("cuGetProcAddress(\"" + record.text + "\") -> not found");
        }
      }
    } else if (record.type == CUFAULT_RECORD_NOTE && record.kind == CUFAULT_NOTE_RULE_COUNT && record.value >= 1 &&
               record.value <= results.size()) {
      // Written at exit, for each process; a process that was killed leaves only its calls.
      counted[record.value - 1] += record.other;
      fault_result& result = results[record.value - 1];
      result.matched = std::max(result.matched, record.third);
    }
  }
  for (std::size_t index = 0; index < results.size(); ++index) {
    results[index].fired = std::max(results[index].fired, counted[index]);
    results[index].matched = std::max(results[index].matched, results[index].fired);
    results[index].standing = standing[index];
  }
  return results;
}

}  // namespace cufault::judge

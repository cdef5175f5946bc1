// SPDX-License-Identifier: Apache-2.0
// The verdict: findings weighed by the profile, in the order of precedence that harness/FORMATS.md states.
#include "verdict.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "error.h"
#include "text.h"
#include "timeline.h"

namespace cufault::judge {

namespace {

using nlohmann::json;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// One rule of the verdict.
struct judged {
  const rule_info* rule;
  std::string status;
  std::string reason;
  bool listed = false;
  std::vector<evidence> proof;
  std::uint64_t violated_ns = never;  // when the first violation was certain
};

bool is_listed(const judge_request& request, std::string_view rule) {
  return std::find(request.rules.begin(), request.rules.end(), rule) != request.rules.end();
}

judged weigh(const run& of, const oracle& by, const judge_request& request) {
  const finding found = by.judge(of);
  judged result;
  result.rule = find_rule(by.rule);
  result.listed = is_listed(request, by.rule);
  result.reason = found.reason;
  result.proof = found.proof;
  const bool off = of.by->of(*result.rule, result.rule->by) == treatment::off;
  const problem* worst = nullptr;
  treatment worst_counts = treatment::off;
  std::size_t as_bad = 0;
  for (const problem& one : found.problems) {
    const treatment counts = of.by->of(*result.rule, one.by);
    if (counts == treatment::off) continue;
    if (counts == treatment::violation) result.violated_ns = std::min(result.violated_ns, one.established_ns);
    if (worst == nullptr || (counts == treatment::violation && worst_counts == treatment::hazard)) {
      worst = &one;
      worst_counts = counts;
      as_bad = 0;
    }
    if (counts == worst_counts) ++as_bad;
  }
  if (worst != nullptr) {
    result.status = worst_counts == treatment::violation ? "violated" : "hazard";
    result.reason = worst->reason + (as_bad > 1 ? " (and " + std::to_string(as_bad - 1) + " more)" : "");
    result.proof.clear();
    for (const problem& one : found.problems) {
      if (of.by->of(*result.rule, one.by) != worst_counts) continue;
      result.proof.insert(result.proof.end(), one.proof.begin(), one.proof.end());
    }
  } else if (off) {
    result.status = "off";
    result.reason = "the profile " + of.by->name + " does not ask for it";
  } else if (found.status == outcome::inconclusive) {
    result.status = "inconclusive";
  } else if (found.status == outcome::not_exercised) {
    const auto reason = request.not_applicable.find(std::string(by.rule));
    result.status = reason == request.not_applicable.end() ? "not_exercised" : "not_applicable";
    if (reason != request.not_applicable.end()) result.reason = reason->second;
  } else {
    result.status = "holds";
    // Every problem was one that the profile leaves off.
    if (!found.problems.empty()) result.reason = "nothing that the profile asks for was broken";
  }
  return result;
}

json as_json(const evidence& one) {
  json out = {{"what", one.what}, {"text", one.text}};
  if (one.pid != 0) out["pid"] = one.pid;
  if (one.thread != 0) out["thread"] = one.thread;
  if (one.sequence != 0) out["sequence"] = one.sequence;
  if (one.time_ns != 0) out["time_ns"] = one.time_ns;
  if (!one.step.empty()) out["step"] = one.step;
  if (!one.symbol.empty()) out["symbol"] = one.symbol;
  return out;
}

json as_json(const judged& one) {
  json proof = json::array();
  for (const evidence& piece : one.proof) proof.push_back(as_json(piece));
  return {{"rule", one.rule->id}, {"title", one.rule->title}, {"by", letter(one.rule->by)},  {"status", one.status},
          {"listed", one.listed}, {"reason", one.reason},     {"evidence", std::move(proof)}};
}

json objects_summary(const run& of) {
  std::size_t made = 0;
  std::size_t destroyed = 0;
  json indeterminate = json::array();
  json leaked = json::array();
  for (const object& thing : of.book.objects) {
    if (!api::kinds()[thing.kind].owned) continue;
    ++made;
    if (thing.state == fate::destroyed || thing.state == fate::died_with_owner) ++destroyed;
    if (thing.state == fate::indeterminate) indeterminate.push_back(describe(thing));
    if (thing.state == fate::alive) leaked.push_back(describe(thing));
  }
  return {{"made", made}, {"destroyed", destroyed}, {"indeterminate", indeterminate}, {"leaked", leaked}};
}

std::uint64_t first_unmodelled_ns(const run& of) {
  for (const event& record : of.calls.events) {
    if (record.type == CUFAULT_RECORD_UNMODELLED) return record.begin_ns;
  }
  return never;
}

std::string first_unmodelled(const run& of) {
  for (const event& record : of.calls.events) {
    if (record.type == CUFAULT_RECORD_UNMODELLED) return record.name;
  }
  return {};
}

struct decided {
  decision verdict;
  std::string reason;
};

// Statuses of rules that count for a run that lists none: those that it exercised.
bool counts(const judged& one, const judge_request& request) { return request.rules.empty() || one.listed; }

bool was_exercised(const judged& one) {
  return one.status == "holds" || one.status == "violated" || one.status == "hazard";
}

decided not_exercised(const run& of, const judge_request& request, const std::vector<judged>& rules_judged,
                      const std::vector<fault_result>& faults) {
  const bool called =
      std::any_of(of.calls.events.begin(), of.calls.events.end(), [](const event& record) { return record.is_call(); });
  if (!called) return {decision::not_exercised, "the run made no driver call"};
  for (const fault_request& fault : request.faults) {
    if (!fault.must_fire) continue;
    const auto result =
        std::find_if(faults.begin(), faults.end(), [&](const fault_result& one) { return one.label == fault.label; });
    if (result == faults.end() || result->fired == 0) {
      return {decision::not_exercised, "the fault '" + fault.label + "' never fired"};
    }
  }
  for (const judged& one : rules_judged) {
    if (one.listed && one.status == "not_exercised") {
      return {decision::not_exercised, std::string(one.rule->id) + " was not exercised: " + one.reason};
    }
  }
  if (request.rules.empty() && std::none_of(rules_judged.begin(), rules_judged.end(), was_exercised)) {
    return {decision::not_exercised, "the run put no rule to the test"};
  }
  return {decision::pass, {}};
}

decided decide(const run& of, const judge_request& request, const std::vector<judged>& rules_judged,
               const std::vector<fault_result>& faults, const std::vector<expectation>& expected) {
  const std::uint64_t unmodelled_ns = first_unmodelled_ns(of);
  const judged* violated = nullptr;
  for (const judged& one : rules_judged) {
    if (one.status != "violated") continue;
    if (violated == nullptr || one.violated_ns < violated->violated_ns) violated = &one;
  }
  const auto blame = [](const judged& one) {
    return decided{decision::violation, std::string(one.rule->id) + ": " + one.reason};
  };
  if (violated != nullptr && (unmodelled_ns == never || violated->violated_ns < unmodelled_ns)) return blame(*violated);
  if (unmodelled_ns != never) {
    return {decision::inconclusive, "unmodelled call " + first_unmodelled(of)};
  }
  std::uint64_t lost = 0;
  for (const process& owner : of.calls.processes) lost += owner.lost;
  if (lost > 0) return {decision::inconclusive, std::to_string(lost) + " records found no room in the trace"};
  for (const judged& one : rules_judged) {
    if (counts(one, request) && one.status == "inconclusive") {
      return {decision::inconclusive, std::string(one.rule->id) + ": " + one.reason};
    }
  }
  for (const expectation& one : expected) {
    if (!one.met) return {decision::violation, "expected that " + one.text + ": " + one.reason};
  }
  decided rest = not_exercised(of, request, rules_judged, faults);
  if (rest.verdict == decision::pass) {
    const auto exercised = std::count_if(rules_judged.begin(), rules_judged.end(), was_exercised);
    rest.reason = std::to_string(exercised) + " rules were put to the test and none was violated";
  }
  return rest;
}

json harness_error(const judge_request& request, const std::string& reason) {
  const decision verdict = decision::harness_error;
  return {{"format", 1},
          {"verdict", name_of(verdict)},
          {"exit_status", exit_status(verdict)},
          {"profile", request.profile_name},
          {"reason", reason},
          {"rules", json::array()},
          {"faults", json::array()},
          {"expectations", json::array()},
          {"objects", {{"made", 0}, {"destroyed", 0}, {"indeterminate", json::array()}, {"leaked", json::array()}}},
          {"calls", calls_summary({})},
          {"processes", json::array()},
          {"timeline", json::array()}};
}

}  // namespace

int exit_status(decision verdict) {
  switch (verdict) {
    case decision::pass:
      return 0;
    case decision::violation:
      return 1;
    case decision::not_exercised:
    case decision::inconclusive:
      return 3;
    case decision::harness_error:
      return 4;
  }
  return 4;
}

std::string_view name_of(decision verdict) {
  switch (verdict) {
    case decision::pass:
      return "pass";
    case decision::violation:
      return "violation";
    case decision::not_exercised:
      return "not_exercised";
    case decision::inconclusive:
      return "inconclusive";
    case decision::harness_error:
      return "harness_error";
  }
  return "harness_error";
}

std::string judge(const run& of, const judge_request& request) {
  constexpr int plan_refused = 97;
  const observed* end = of.showed.exit();
  if (end != nullptr && end->status == plan_refused) {
    return dumped(harness_error(request, "the shim refused the plan: " + shortened(of.showed.standard_error(), 400)));
  }
  std::vector<judged> rules_judged;
  for (const oracle& by : all_oracles()) rules_judged.push_back(weigh(of, by, request));
  const std::vector<fault_result> faults = fault_results(of);
  const std::vector<expectation> expected = compare(of, request.expect);
  const decided result = decide(of, request, rules_judged, faults, expected);

  json out = {{"format", 1},
              {"verdict", name_of(result.verdict)},
              {"exit_status", exit_status(result.verdict)},
              {"profile", request.profile_name},
              {"reason", result.reason},
              {"rules", json::array()},
              {"faults", json::array()},
              {"expectations", json::array()},
              {"objects", objects_summary(of)},
              {"calls", calls_summary(of.calls)},
              {"processes", processes_summary(of.calls)},
              {"timeline", timeline(of)}};
  for (const judged& one : rules_judged) out["rules"].push_back(as_json(one));
  for (const fault_result& one : faults) {
    out["faults"].push_back({{"label", one.label},
                             {"matched", one.matched},
                             {"fired", one.fired},
                             {"code", one.code.empty() ? json(nullptr) : json(one.code)},
                             {"standing", one.standing.empty() ? json(nullptr) : json(one.standing)},
                             {"at", one.at}});
  }
  for (const expectation& one : expected) {
    out["expectations"].push_back({{"text", one.text}, {"met", one.met}, {"reason", one.reason}});
  }
  return dumped(out);
}

std::string judge(std::string_view request_json) {
  const judge_request request = parse_judge_request(request_json);
  try {
    std::optional<plan> planned;
    const std::string plan_path = request.run_folder + "/plan.bin";
    if (std::filesystem::exists(plan_path)) planned = read_plan(plan_path);
    const run of = assemble(read_trace(request.run_folder), read_observation(request.run_folder), std::move(planned),
                            *find_profile(request.profile_name));
    return judge(of, request);
  } catch (const file_error& problem) {
    return dumped(harness_error(request, problem.what()));
  }
}

}  // namespace cufault::judge

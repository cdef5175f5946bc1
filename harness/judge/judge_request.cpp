// SPDX-License-Identifier: Apache-2.0
// Reads a judge request.
#include <algorithm>
#include <array>

#include "json_place.h"
#include "verdict.h"

namespace cufault::judge {

namespace {

std::vector<std::string> texts(const std::optional<json_place>& place) {
  std::vector<std::string> found;
  if (!place) return found;
  if (place->is_text()) return {place->text()};
  for (const json_place& item : place->items()) found.push_back(item.text());
  return found;
}

// One object, or a list of them.
std::vector<json_place> objects(const std::optional<json_place>& place) {
  if (!place) return {};
  if (place->is_object()) return {*place};
  return place->items();
}

std::string judged_rule(const json_place& place) {
  std::vector<std::string_view> known;
  for (const oracle& candidate : all_oracles()) known.push_back(candidate.rule);
  const std::string rule = place.text();
  if (find_oracle(rule) != nullptr) return rule;
  if (find_rule(rule) != nullptr) {
    throw request_error(place.path(), "the rule '" + rule + "' cannot be judged yet: it has no oracle", rule);
  }
  throw place.unknown("rule", known);
}

expectations read_expectations(const json_place& place) {
  expectations expect;
  place.only(std::array<std::string_view, 8>{"raises", "reported", "silent", "indeterminate", "leaked", "destroyed",
                                             "context_unchanged", "ends"});
  for (const json_place& item : objects(place.get("raises"))) {
    item.only(std::array<std::string_view, 3>{"step", "code", "type"});
    expect.raises.push_back({item.text_or("step", ""), item.text_or("code", ""), item.text_or("type", "")});
  }
  for (const json_place& item : objects(place.get("reported"))) {
    item.only(std::array<std::string_view, 5>{"step", "category", "names", "handle", "count"});
    expected_report report{item.text_or("step", ""), item.text_or("category", ""), item.text_or("handle", ""),
                           texts(item.get("names")), std::nullopt};
    if (const auto count = item.get("count")) report.count = count->integer();
    expect.reported.push_back(std::move(report));
  }
  expect.silent = texts(place.get("silent"));
  expect.indeterminate = texts(place.get("indeterminate"));
  expect.leaked = texts(place.get("leaked"));
  expect.destroyed = texts(place.get("destroyed"));
  expect.context_unchanged = texts(place.get("context_unchanged"));
  expect.ends = place.text_or("ends", "");
  return expect;
}

}  // namespace

judge_request parse_judge_request(std::string_view json_text) {
  const nlohmann::json parsed = parse_request(json_text);
  const json_place top(parsed, "");
  static_cast<void>(top.need("format").integer(1, 1));
  judge_request request;
  request.run_folder = top.need("run_folder").text();
  const json_place profile_place = top.need("profile");
  request.profile_name = profile_place.text();
  if (find_profile(request.profile_name) == nullptr) {
    std::vector<std::string_view> known;
    for (const profile& candidate : profiles()) known.push_back(candidate.name);
    throw profile_place.unknown("profile", known);
  }
  if (const auto rules_place = top.get("rules")) {
    for (const json_place& item : rules_place->items()) request.rules.push_back(judged_rule(item));
  }
  if (const auto reasons = top.get("not_applicable")) {
    if (!reasons->is_object()) throw reasons->error("expected an object: rule to reason");
    for (const auto& [rule, reason] : reasons->value().items()) {
      request.not_applicable[rule] = json_place(reason, reasons->path() + "." + rule).text();
    }
  }
  if (const auto faults = top.get("faults")) {
    for (const json_place& item : faults->items()) {
      request.faults.push_back({item.need("label").text(), item.boolean_or("must_fire", true)});
    }
  }
  if (const auto expect = top.get("expect")) request.expect = read_expectations(*expect);
  return request;
}

}  // namespace cufault::judge

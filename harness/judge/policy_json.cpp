// SPDX-License-Identifier: Apache-2.0
// Rules, profiles and the vocabulary of faults, for whoever checks files before a run.
#include "policy_json.h"

#include <nlohmann/json.hpp>

#include "api.h"
#include "finding.h"
#include "plan.h"

namespace cufault::judge {

std::string policy_as_json() {
  using nlohmann::json;
  json out = {{"format", 1},
              {"rules", json::array()},
              {"profiles", json::array()},
              {"functions", api::function_names()},
              {"symbols", json::array()},
              {"classes", api::classes()},
              {"kinds", json::array()},
              {"results", json::object()},
              {"effects", json::array()}};
  for (const rule_info& rule : rules()) {
    out["rules"].push_back({{"rule", rule.id},
                            {"by", letter(rule.by)},
                            {"title", rule.title},
                            {"text", rule.text},
                            {"shown", rule.shown},
                            {"judged", find_oracle(rule.id) != nullptr}});
  }
  for (const profile& candidate : profiles()) {
    out["profiles"].push_back({{"profile", candidate.name}, {"means", candidate.means}});
  }
  for (const api::symbol& entry : api::symbols()) out["symbols"].push_back(entry.name);
  for (const api::kind& kind : api::kinds()) out["kinds"].push_back(kind.name);
  for (const api::result& result : api::results()) out["results"][std::string(result.name)] = result.value;
  for (std::uint32_t effect = 1; !effect_name(effect).empty(); ++effect) out["effects"].push_back(effect_name(effect));
  return out.dump();
}

}  // namespace cufault::judge

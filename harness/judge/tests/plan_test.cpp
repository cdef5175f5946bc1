// SPDX-License-Identifier: Apache-2.0
// Plan requests: what they become, and how they are refused.
#include "plan.h"

#include <cufault/plan_format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "api.h"
#include "error.h"

namespace cufault::judge {
namespace {

using nlohmann::json;

json request_with(json fault) {
  return {{"format", 1},
          {"run_folder", "/run"},
          {"backend", "simulated"},
          {"backend_path", "/lib/libcufault_sim.so"},
          {"steps", {"make s", "drop s"}},
          {"handles", {{{"name", "s"}, {"kind", "stream"}, {"step", "make s"}}}},
          {"faults", json::array({std::move(fault)})}};
}

json failing(std::string_view at) { return {{"at", at}, {"effect", "fail"}, {"code", "CUDA_ERROR_INVALID_CONTEXT"}}; }

plan_rule rule_of(const json& fault) { return parse_plan_request(request_with(fault).dump()).rules.at(0); }

// The refusal of a request with that fault.
request_error refusal(const json& fault) {
  try {
    static_cast<void>(parse_plan_request(request_with(fault).dump()));
  } catch (const request_error& error) {
    return error;
  }
  ADD_FAILURE() << "not refused: " << fault.dump();
  return {"", ""};
}

TEST(PlanRequest, APlainNameMeansEveryAbiVariant) {
  EXPECT_EQ(rule_of(failing("cuStreamDestroy")).symbols,
            (std::vector<std::string>{"cuStreamDestroy", "cuStreamDestroy_v2"}));
}

TEST(PlanRequest, ASymbolMeansExactlyOneEntryPoint) {
  json fault = failing("");
  fault.erase("at");
  fault["symbol"] = "cuStreamDestroy_v2";
  EXPECT_EQ(rule_of(fault).symbols, std::vector<std::string>{"cuStreamDestroy_v2"});
}

TEST(PlanRequest, AGlobIsExpandedOverPlainNames) {
  const std::vector<std::string> found = rule_of(failing("cuStream[DQ]*y")).symbols;
  EXPECT_EQ(found,
            (std::vector<std::string>{"cuStreamDestroy", "cuStreamDestroy_v2", "cuStreamQuery", "cuStreamQuery_ptsz"}));
}

TEST(PlanRequest, AClassIsExpandedToItsMembersOnly) {
  const std::vector<std::string> found = rule_of(failing("each destroy")).symbols;
  EXPECT_NE(std::find(found.begin(), found.end(), "cuStreamDestroy_v2"), found.end());
  for (const std::string& name : found) EXPECT_TRUE(api::find_symbol(name)->in("destroy")) << name;
}

TEST(PlanRequest, WithoutOrdinalsEveryMatchingCallFails) {
  const plan_rule rule = rule_of(failing("cuStreamDestroy"));
  EXPECT_EQ(rule.from, 1u);
  EXPECT_EQ(rule.every, 1u);
  EXPECT_EQ(rule.limit, 0u);
  EXPECT_EQ(rule.probability, 1.0);
}

TEST(PlanRequest, ANamedHandleBringsItsKind) {
  json fault = failing("cuStreamDestroy");
  fault["handle"] = "s";
  const plan_rule rule = rule_of(fault);
  EXPECT_EQ(rule.handle_name, 1u);
  EXPECT_EQ(api::kinds()[rule.handle_kind - 1].name, "stream");
}

TEST(PlanRequest, AMisspeltFunctionIsRefusedWithItsPlaceAndTheNearestName) {
  const request_error error = refusal(failing("cuStreamDestory"));
  EXPECT_EQ(error.path(), "faults[0].at");
  EXPECT_EQ(error.value(), "cuStreamDestory");
  EXPECT_EQ(error.nearest(), "cuStreamDestroy");
  EXPECT_STREQ(error.what(),
               "faults[0].at: no function is called 'cuStreamDestory'; the nearest right name is 'cuStreamDestroy'");
}

TEST(PlanRequest, AVariantWhereAPlainNameBelongsIsRefusedWithThePlainName) {
  EXPECT_EQ(refusal(failing("cuStreamDestroy_v2")).nearest(), "cuStreamDestroy");
}

TEST(PlanRequest, AMisspeltCodeClassEffectStepHandleKindAndKeyAreRefusedWithTheNearestName) {
  json code = failing("cuStreamDestroy");
  code["code"] = "CUDA_ERROR_INVALID_CONTEX";
  EXPECT_EQ(refusal(code).path(), "faults[0].code");
  EXPECT_EQ(refusal(code).nearest(), "CUDA_ERROR_INVALID_CONTEXT");

  EXPECT_EQ(refusal(failing("each destory")).nearest(), "destroy");

  json effect = failing("cuStreamDestroy");
  effect["effect"] = "call_than_fail";
  EXPECT_EQ(refusal(effect).nearest(), "call_then_fail");

  json step = failing("cuStreamDestroy");
  step["step"] = "drop";
  EXPECT_EQ(refusal(step).nearest(), "drop s");

  json handle = failing("cuStreamDestroy");
  handle["handle"] = {{"kind", "steam"}};
  EXPECT_EQ(refusal(handle).path(), "faults[0].handle.kind");
  EXPECT_EQ(refusal(handle).nearest(), "stream");

  json key = failing("cuStreamDestroy");
  key["handel"] = "s";
  EXPECT_EQ(refusal(key).path(), "faults[0].handel");
  EXPECT_EQ(refusal(key).nearest(), "handle");
}

TEST(PlanRequest, AnEffectWithoutItsCodeOrWithOneTooManyIsRefused) {
  json missing = failing("cuStreamDestroy");
  missing.erase("code");
  EXPECT_EQ(refusal(missing).path(), "faults[0]");
  json extra = failing("cuStreamDestroy");
  extra["effect"] = "deinitialize";
  EXPECT_EQ(refusal(extra).path(), "faults[0].code");
}

TEST(PlanRequest, TwoFaultsOfOneLabelAndAFaultAfterItselfAreRefused) {
  json request = request_with(failing("cuStreamDestroy"));
  request["faults"][0]["label"] = "f";
  request["faults"].push_back(request["faults"][0]);
  EXPECT_THROW(static_cast<void>(parse_plan_request(request.dump())), request_error);
  json itself = failing("cuStreamDestroy");
  itself["after"] = "f1";
  EXPECT_EQ(refusal(itself).path(), "faults[0].after");
}

TEST(PlanFile, WhatIsWrittenIsReadBackWhole) {
  json fault = failing("cuStreamDestroy");
  fault["handle"] = "s";
  fault["step"] = "drop s";
  fault["from"] = 3;
  fault["limit"] = 1;
  fault["switch"] = "restore";
  fault["thread"] = {{"name", "worker"}};
  fault["argument"] = {{"index", 0}, {"compare", "has_bits"}, {"value", "0x10"}};
  const plan source = parse_plan_request(request_with(fault).dump());
  const plan back = decode_plan(encode_plan(source), "plan");
  EXPECT_EQ(back.steps, source.steps);
  EXPECT_EQ(back.run_folder, "/run");
  EXPECT_EQ(back.backend, std::uint32_t{CUFAULT_BACKEND_SIMULATED});
  ASSERT_EQ(back.rules.size(), 1u);
  EXPECT_EQ(back.rules[0].label, "f1");
  EXPECT_EQ(back.rules[0].symbols, source.rules[0].symbols);
  EXPECT_EQ(back.rules[0].code, 201);
  EXPECT_EQ(back.rules[0].from, 3u);
  EXPECT_EQ(back.rules[0].limit, 1u);
  EXPECT_EQ(back.rules[0].step, 2u);
  EXPECT_EQ(back.rules[0].handle_name, 1u);
  EXPECT_EQ(back.rules[0].switch_role, std::uint32_t{CUFAULT_SWITCH_RESTORE});
  EXPECT_EQ(back.rules[0].thread_name, "worker");
  EXPECT_EQ(back.rules[0].compare, std::uint32_t{CUFAULT_COMPARE_HAS_BITS});
  EXPECT_EQ(back.rules[0].value, 0x10u);
  ASSERT_EQ(back.handles.size(), 1u);
  EXPECT_EQ(back.handles[0].name, "s");
}

TEST(PlanFile, EveryTruncationAndEveryChangedByteIsRefused) {
  const std::string bytes = encode_plan(parse_plan_request(request_with(failing("cuStreamDestroy")).dump()));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(decode_plan(bytes.substr(0, size), "plan")), file_error) << size;
  }
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 0x40);
    EXPECT_THROW(static_cast<void>(decode_plan(changed, "plan")), file_error) << place;
  }
}

}  // namespace
}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// The verdict: its order of precedence, profiles, expectations, faults, and requests that are refused.
#include "verdict.h"

#include <cufault/plan_format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "error.h"
#include "story.h"

namespace cufault::judge::testing {
namespace {

using nlohmann::json;

json verdict_of(const story& told, judge_request request, std::string_view profile_name = "rfc") {
  request.profile_name = profile_name;
  return json::parse(judge(told.told(profile_name), request));
}

json verdict_listing(const story& told, std::vector<std::string> rules) {
  judge_request request;
  request.rules = std::move(rules);
  return verdict_of(told, request);
}

json verdict_of(const story& told) { return verdict_listing(told, {}); }

json rule_of(const json& verdict, std::string_view rule) {
  for (const json& one : verdict.at("rules")) {
    if (one.at("rule") == rule) return one;
  }
  return {};
}

story reported_drop() {
  story told;
  told.begin("make s", "make", "raises", "s")
      .call("cuStreamCreate", {0x7ff0, 0}, stream_s)
      .named("s", "stream", stream_s)
      .end();
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  told.warns(report_of("cuStreamDestroy", invalid_context, stream_s)).end();
  return told;
}

story silent_drop() {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context).end();
  return told;
}

TEST(Verdict, PassesWhereEveryListedRuleWasExercisedAndHolds) {
  const json verdict = verdict_listing(reported_drop().exits(0), {"P12", "P16"});
  EXPECT_EQ(verdict["verdict"], "pass");
  EXPECT_EQ(verdict["exit_status"], 0);
  EXPECT_EQ(rule_of(verdict, "P12")["status"], "holds");
  EXPECT_TRUE(rule_of(verdict, "P12")["listed"]);
}

TEST(Verdict, AViolationOfARuleThatNobodyListedIsOne) {
  const json verdict = verdict_listing(silent_drop().exits(0), {"P16"});
  EXPECT_EQ(verdict["verdict"], "violation");
  EXPECT_EQ(verdict["exit_status"], 1);
}

TEST(Verdict, AListedRuleThatWasNotExercisedIsNoPass) {
  const json verdict = verdict_listing(reported_drop().exits(0), {"P12", "P24"});
  EXPECT_EQ(verdict["verdict"], "not_exercised");
  EXPECT_EQ(verdict["exit_status"], 3);
}

TEST(Verdict, WhatASubjectCannotDoNeedsNoExercise) {
  judge_request request;
  request.rules = {"P12", "P24"};
  request.not_applicable = {{"P24", "it has no devices"}};
  const json verdict = verdict_of(reported_drop().exits(0), request);
  EXPECT_EQ(verdict["verdict"], "pass");
  EXPECT_EQ(rule_of(verdict, "P24")["status"], "not_applicable");
  EXPECT_EQ(rule_of(verdict, "P24")["reason"], "it has no devices");
}

TEST(Verdict, ARunWithoutADriverCallIsNotExercised) {
  EXPECT_EQ(verdict_of(story().exits(0))["reason"], "the run made no driver call");
  EXPECT_EQ(verdict_of(story().exits(0))["exit_status"], 3);
}

TEST(Verdict, ARunThatPutsNothingToTheTestIsNotExercised) {
  EXPECT_EQ(verdict_of(story().call("cuCtxGetCurrent", {0x7ff0}, home).exits(0))["verdict"], "not_exercised");
}

TEST(Verdict, AFaultThatMustFireAndDidNotIsNotExercised) {
  story told = reported_drop();
  told.planned(CUFAULT_EFFECT_FAIL, "cuStreamDestroy_v2", invalid_context)
      .planned(CUFAULT_EFFECT_FAIL, "cuEventDestroy_v2", 1);
  judge_request request;
  request.faults = {{"f1", true}, {"f2", true}};
  EXPECT_EQ(verdict_of(told.exits(0), request)["reason"], "the fault 'f2' never fired");
  request.faults = {{"f1", true}, {"f2", false}};
  EXPECT_EQ(verdict_of(told, request)["verdict"], "pass");
}

TEST(Verdict, AnUnmodelledCallMakesItInconclusiveUnlessAViolationCameBefore) {
  story after = silent_drop();
  after.record(CUFAULT_RECORD_UNMODELLED, "cuMemMap", 0, "all of it").exits(0);
  EXPECT_EQ(verdict_of(after)["verdict"], "violation");
  story before;
  before.record(CUFAULT_RECORD_UNMODELLED, "cuMemMap", 0, "all of it");
  before.begin("drop s", "drop", "implicit", "s")
      .fails("cuStreamDestroy_v2", {stream_s}, invalid_context)
      .end()
      .exits(0);
  EXPECT_EQ(verdict_of(before)["verdict"], "inconclusive");
  EXPECT_EQ(verdict_of(before)["reason"], "unmodelled call cuMemMap");
  EXPECT_EQ(verdict_of(before)["exit_status"], 3);
}

TEST(Verdict, LostRecordsMakeItInconclusive) {
  EXPECT_EQ(verdict_of(reported_drop().lost(3).exits(0))["verdict"], "inconclusive");
}

TEST(Verdict, ARefusedPlanIsAHarnessError) {
  const json verdict = verdict_of(story().writes_to_stderr("cufault: plan refused\n").exits(97));
  EXPECT_EQ(verdict["verdict"], "harness_error");
  EXPECT_EQ(verdict["exit_status"], 4);
}

TEST(Verdict, AProfileDecidesWhatCounts) {
  story told;
  told.begin("make s", "make", "raises", "s").fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  const json rfc = verdict_of(told, judge_request{}, "rfc");
  EXPECT_EQ(rule_of(rfc, "P02")["status"], "hazard");
  EXPECT_EQ(rule_of(rfc, "P13")["status"], "off");
  EXPECT_EQ(rfc["verdict"], "pass");
  const json strict = verdict_of(told, judge_request{}, "strict");
  EXPECT_EQ(rule_of(strict, "P02")["status"], "violated");
  EXPECT_EQ(strict["verdict"], "violation");
}

TEST(Verdict, AFailedExpectationIsAViolation) {
  judge_request request;
  request.expect.silent = {"drop s"};
  const json verdict = verdict_of(reported_drop().exits(0), request);
  EXPECT_EQ(verdict["verdict"], "violation");
  EXPECT_FALSE(verdict["expectations"][0]["met"]);
}

TEST(Expectations, AreMetByWhatTheRunShowed) {
  story told = reported_drop();
  told.begin("make e", "make", "raises", "e").fails("cuEventCreate", {0x7ff0, 0}, out_of_memory);
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  expectations expect;
  expect.raises = {{"make e", "CUDA_ERROR_OUT_OF_MEMORY", "CUDAError"}};
  expect.reported = {
      {"drop s", "CUDAWarning", "s", {"cuStreamDestroy", "CUDA_ERROR_INVALID_CONTEXT", "${handle:s}"}, 1}};
  expect.silent = {"make s"};
  expect.indeterminate = {"s"};
  expect.context_unchanged = {"drop s"};
  expect.ends = "normally";
  for (const expectation& one : compare(told.told(), expect)) EXPECT_TRUE(one.met) << one.text << ": " << one.reason;
}

TEST(Expectations, AreNotMetOtherwise) {
  story told = reported_drop();
  told.exits(1);
  expectations expect;
  expect.raises = {{"drop s", "", ""}, {"make z", "", ""}};
  expect.reported = {{"", "CUDAWarning", "", {"cuEventDestroy"}, {}}, {"", "CUDAWarning", "s", {}, 2}};
  expect.silent = {"drop s"};
  expect.indeterminate = {"nobody"};
  expect.leaked = {"s"};
  expect.destroyed = {"s"};
  expect.context_unchanged = {"drop t"};
  expect.ends = "normally";
  for (const expectation& one : compare(told.told(), expect)) {
    EXPECT_FALSE(one.met) << one.text;
    EXPECT_FALSE(one.reason.empty()) << one.text;
  }
}

TEST(Faults, SayHowOftenTheyFiredAndHowPlausibleTheirCodesAre) {
  story told;
  told.planned(CUFAULT_EFFECT_FAIL, "cuStreamDestroy_v2", illegal_address)
      .planned(CUFAULT_EFFECT_FAIL, "cuCtxSetCurrent", 205);
  told.fails("cuStreamDestroy_v2", {stream_s}, illegal_address).fails("cuCtxSetCurrent", {home}, 205).by_rule(2);
  const std::vector<fault_result> results = fault_results(told.told());
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].fired, 1u);
  EXPECT_EQ(results[0].code, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(results[0].standing, "observed");
  EXPECT_EQ(results[1].standing, "implausible");
}

TEST(Faults, AreDocumentedWhereTheHeaderListsTheCode) {
  EXPECT_EQ(standing_of(*api::find_symbol("cuStreamCreate"), out_of_memory), "documented");
  EXPECT_EQ(standing_of(*api::find_symbol("cuStreamCreate"), deinitialized), "observed");
  EXPECT_EQ(standing_of(*api::find_symbol("cuCtxSetCurrent"), illegal_address), "implausible");
}

json request() { return {{"format", 1}, {"run_folder", "/nowhere"}, {"profile", "rfc"}, {"rules", {"P12"}}}; }

request_error refusal(const json& wrong) {
  try {
    static_cast<void>(parse_judge_request(wrong.dump()));
  } catch (const request_error& error) {
    return error;
  }
  ADD_FAILURE() << "not refused: " << wrong.dump();
  return {"", ""};
}

TEST(JudgeRequest, ARuleProfileOrExpectationThatDoesNotExistIsRefusedWithTheNearestName) {
  json rule = request();
  rule["rules"] = {"P12", "P99"};
  EXPECT_EQ(refusal(rule).path(), "rules[1]");
  json profile_name = request();
  profile_name["profile"] = "strikt";
  EXPECT_EQ(refusal(profile_name).nearest(), "strict");
  json key = request();
  key["expect"] = {{"rasies", json::array()}};
  EXPECT_EQ(refusal(key).nearest(), "raises");
}

TEST(JudgeRequest, ARuleWithoutAnOracleIsRefusedByName) {
  json rule = request();
  rule["rules"] = {"P19"};
  EXPECT_NE(std::string(refusal(rule).what()).find("'P19' cannot be judged"), std::string::npos);
}

TEST(JudgeRequest, AFolderThatCannotBeReadIsAHarnessError) {
  const json verdict = json::parse(judge(request().dump()));
  EXPECT_EQ(verdict["verdict"], "harness_error");
  EXPECT_EQ(verdict["exit_status"], 4);
}

TEST(Policy, EveryOracleHasItsRuleAndTheyAreSorted) {
  std::string_view before;
  for (const oracle& one : all_oracles()) {
    EXPECT_NE(find_rule(one.rule), nullptr) << one.rule;
    EXPECT_LT(before, one.rule);
    before = one.rule;
  }
}

}  // namespace
}  // namespace cufault::judge::testing

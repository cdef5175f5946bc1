// SPDX-License-Identifier: Apache-2.0
// The ledger, and the attribution of shown events to failed calls.
#include "ledger.h"

#include <gtest/gtest.h>

#include "story.h"
#include "text.h"

namespace cufault::judge::testing {
namespace {

const object& only(const run& told, std::string_view kind) {
  const object* found = nullptr;
  for (const object& thing : told.book.objects) {
    if (thing.kind_name() == kind) found = &thing;
  }
  if (found == nullptr) throw std::logic_error("no object of that kind");
  return *found;
}

TEST(Ledger, FollowsAnObjectFromBirthToDeath) {
  const run told = story().call("cuEventCreate", {0x7ff0, 0}, 0xe000).call("cuEventDestroy_v2", {0xe000}).told();
  EXPECT_EQ(only(told, "event").state, fate::destroyed);
  EXPECT_EQ(only(told, "event").handle, 0xe000u);
  EXPECT_EQ(only(told, "event").owner, home);
}

TEST(Ledger, AFailedDestroyAndAFailedCreationLeaveThingsIndeterminate) {
  story told;
  told.call("cuEventCreate", {0x7ff0, 0}, 0xe000).fails("cuEventDestroy_v2", {0xe000}, invalid_context);
  EXPECT_EQ(only(told.told(), "event").state, fate::indeterminate);
  story unborn;
  unborn.does_and_fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory, stream_s);
  EXPECT_EQ(only(unborn.told(), "stream").state, fate::indeterminate);
  EXPECT_TRUE(story().fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory).told().book.objects.empty());
}

TEST(Ledger, WhatLivesInAContextGoesWithIt) {
  story told;
  told.call("cuCtxCreate_v2", {0x7ff0, 0, 0}, other).current(other).call("cuStreamCreate", {0x7ff0, 0}, stream_s);
  told.call("cuCtxDestroy_v2", {other}).call("cuStreamDestroy_v2", {stream_s});
  EXPECT_EQ(only(told.told(), "stream").state, fate::died_with_owner);
  EXPECT_TRUE(told.told().book.incidents.empty());
}

TEST(Ledger, APrimaryContextCountsItsRetentionsAndComesBackUnderTheSameHandle) {
  story told;
  told.call("cuDevicePrimaryCtxRetain", {0x7ff0, 0}, home).call("cuDevicePrimaryCtxRetain", {0x7ff0, 0}, home);
  told.call("cuDevicePrimaryCtxRelease_v2", {0});
  EXPECT_EQ(only(told.told(), "primary_context").state, fate::alive);
  told.call("cuDevicePrimaryCtxRelease_v2", {0});
  EXPECT_EQ(only(told.told(), "primary_context").state, fate::destroyed);
  told.call("cuDevicePrimaryCtxRetain", {0x7ff0, 0}, home);
  EXPECT_EQ(only(told.told(), "primary_context").state, fate::alive);
  EXPECT_TRUE(told.told().book.incidents.empty());
}

TEST(Ledger, EachRetentionOfAPrimaryContextMayFailToBeReleasedOnce) {
  story told;
  told.call("cuDevicePrimaryCtxRetain", {0x7ff0, 0}, home).call("cuDevicePrimaryCtxRetain", {0x7ff0, 0}, home);
  told.fails("cuDevicePrimaryCtxRelease_v2", {0}, deinitialized).fails("cuDevicePrimaryCtxRelease_v2", {0}, deinitialized);
  EXPECT_EQ(only(told.told(), "primary_context").state, fate::indeterminate);
  EXPECT_TRUE(told.told().book.incidents.empty());
  told.fails("cuDevicePrimaryCtxRelease_v2", {0}, deinitialized);
  ASSERT_EQ(told.told().book.incidents.size(), 1u);
  EXPECT_EQ(told.told().book.incidents[0].kind, incident::what::destroy_of_indeterminate);
}

TEST(Ledger, AUserObjectLivesAsLongAsAGraphThatCameFromItsGraph) {
  story told;
  told.call("cuGraphCreate", {0x7ff0, 0}, 0x6000).call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, 0x9000);
  told.call("cuGraphRetainUserObject", {0x6000, 0x9000, 1, 1});
  told.call("cuGraphInstantiateWithParams", {0x7ff0, 0x6000, 0x7ff8}, 0x6100).call("cuGraphDestroy", {0x6000});
  EXPECT_EQ(only(told.told(), "user_object").state, fate::alive);
  told.call("cuGraphExecDestroy", {0x6100});
  EXPECT_EQ(only(told.told(), "user_object").state, fate::destroyed);
}

TEST(Ledger, ANameIsOfTheObjectThatHadTheHandleThen) {
  story told;
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s)
      .named("s", "stream", stream_s)
      .call("cuStreamDestroy_v2", {stream_s});
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s).named("t", "stream", stream_s);
  const run of = told.told();
  ASSERT_EQ(of.book.named("s").size(), 1u);
  EXPECT_EQ(of.book.named("s")[0]->state, fate::destroyed);
  ASSERT_EQ(of.book.named("t").size(), 1u);
  EXPECT_EQ(of.book.named("t")[0]->state, fate::alive);
}

TEST(Attribution, AReportGoesToTheFailureWhoseHandleItNames) {
  story told;
  told.begin("collect", "collect", "implicit").fails("cuStreamDestroy_v2", {0x5000}, invalid_context);
  told.fails("cuStreamDestroy_v2", {0x5008}, invalid_context)
      .warns(report_of("cuStreamDestroy", invalid_context, 0x5008))
      .end();
  const run of = told.told();
  EXPECT_TRUE(of.failures.at(0).channels.empty());
  EXPECT_EQ(of.failures.at(1).channels.size(), 1u);
}

TEST(Attribution, ALineThatNamesADestroyFunctionGoesToTheCleanUpOfSuchAnObject) {
  story told;
  told.begin("make b", "make", "raises", "b")
      .call("cuMemAllocAsync", {0x7ff0, 256, 0}, 0xb000)
      .named("b", "device_memory", 0xb000)
      .end();
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, deinitialized).end();
  told.begin("drop b", "drop", "implicit", "b").fails("cuCtxGetCurrent", {0x7ff0}, deinitialized).end();
  const run of = told.writes_to_stderr("Warning: cuMemFreeAsync failed (CUDA error 4)\n").told();
  EXPECT_TRUE(of.failures.at(0).channels.empty());
  EXPECT_EQ(of.failures.at(1).channels.size(), 1u);
}

TEST(Attribution, AWarningThatShowsAnUnraisableErrorAgainIsNoSecondChannel) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  told.unraisable("CUDAWarning", report_of("cuStreamDestroy", invalid_context, stream_s), {"lib.CUDAWarning"});
  told.warns("Exception ignored in: <s>\nCUDAWarning: " + report_of("cuStreamDestroy", invalid_context, stream_s),
             "PytestUnraisableExceptionWarning", "Warning")
      .end();
  EXPECT_EQ(told.told().failures.at(0).channels.size(), 1u);
}

TEST(Attribution, AReportThatCameAfterItsStepIsItsOwnIfNothingElseIs) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context).end();
  told.begin("use e", "use", "raises").warns(report_of("cuStreamDestroy", invalid_context, stream_s)).end();
  EXPECT_EQ(told.told().failures.at(0).channels.size(), 1u);
}

TEST(Texts, ANumberIsAnErrorOnlyWhereTheTextSpeaksOfErrors) {
  EXPECT_TRUE(identifies("failed (CUDA error 201)", 201));
  EXPECT_TRUE(identifies("error code=201", 201));
  EXPECT_FALSE(identifies("line 201 of the file", 201));
  EXPECT_FALSE(identifies("CUDA_ERROR_INVALID_CONTEXT_ALSO", 201));
  EXPECT_TRUE(identifies("invalid device context", 201));
}

TEST(Texts, AFunctionIsNamedByAnyOfItsVariants) {
  EXPECT_TRUE(names_function("cuStreamDestroy_v2 failed", "cuStreamDestroy"));
  EXPECT_TRUE(names_function("cuStreamDestroy(0x1)", "cuStreamDestroy"));
  EXPECT_FALSE(names_function("xcuStreamDestroy", "cuStreamDestroy"));
  EXPECT_FALSE(names_function("cuStreamDestroyAll", "cuStreamDestroy"));
}

TEST(Texts, NumbersAreComparedByValue) {
  EXPECT_TRUE(has_number("handle 0x5000 lost", 0x5000));
  EXPECT_TRUE(has_number("handle 20480 lost", 0x5000));
  EXPECT_TRUE(has_number("handle 0x00005000", 0x5000));
  EXPECT_FALSE(has_number("handle 0x50001", 0x5000));
}

}  // namespace
}  // namespace cufault::judge::testing

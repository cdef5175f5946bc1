// SPDX-License-Identifier: Apache-2.0
// Oracles about context switches and second attempts: P05, P20, P24.
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

TEST(P05, HoldsWhereTheContextIsRestored) {
  story told;
  told.begin("make s", "make", "raises").enters(other).restores(home).end().exits(0);
  EXPECT_EQ(told.found("P05").status, outcome::holds);
}

TEST(P05, IsViolatedOnSuccessWithAnotherContextCurrent) {
  story told;
  told.begin("make s", "make", "raises").enters(other).end().exits(0);
  EXPECT_EQ(told.found("P05").status, outcome::violated);
}

TEST(P05, IsViolatedOnFailureWithAnotherContextCurrent) {
  story told;
  told.begin("make s", "make", "raises").enters(other);
  told.fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory).raises("CUDAError", message_of(out_of_memory));
  EXPECT_EQ(told.end("raised").exits(0).found("P05").status, outcome::violated);
}

TEST(P05, IsViolatedOnAnotherThread) {
  story told;
  told.begin("make s", "make", "raises")
      .enters(other)
      .restores(home)
      .on_thread(2)
      .enters(other)
      .on_thread(1)
      .current(home);
  const finding found = told.end().exits(0).found("P05");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("thread 2"), std::string::npos);
}

TEST(P05, IsNotExercisedWhereChangingIsThePointOrRestoringFailed) {
  story told;
  told.begin("set_current d", "set_current", "raises", "d", true).enters(other).end();
  told.current(home).begin("make s", "make", "raises").enters(other).restore_fails(home, invalid_context);
  told.raises("CUDAError", message_of(invalid_context)).end("raised");
  told.current(home).begin("python 1", "python", "free").enters(other).end().exits(0);
  EXPECT_EQ(told.found("P05").status, outcome::not_exercised);
}

TEST(P05, IsNotExercisedByDestroyingTheCurrentContextItself) {
  story told;
  told.call("cuCtxCreate_v2", {0x7ff0, 0, 0}, other)
      .current(other)
      .begin("close c", "close", "either", "c")
      .enters(other);
  told.call("cuCtxDestroy_v2", {other}).current(0).end().exits(0);
  EXPECT_EQ(told.found("P05").status, outcome::not_exercised);
}

TEST(P20, HoldsWhereAFailedRestorationIsLeftAlone) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").enters(other).restore_fails(home, invalid_context);
  told.warns(report_of("cuCtxSetCurrent", invalid_context, home)).end().exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::holds);
}

TEST(P20, IsViolatedByASecondAttemptToRestore) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").enters(other).restore_fails(home, invalid_context).restores(home);
  EXPECT_EQ(told.end().exits(0).found("P20").status, outcome::violated);
}

TEST(P20, HoldsWhereTheNextObjectEntersAndRestoresAgain) {
  story told;
  told.begin("collect", "collect", "implicit").enters(other).restore_fails(home, invalid_context).enters(0xc0de2000);
  told.restores(home).warns(report_of("cuCtxSetCurrent", invalid_context, home)).end().exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::holds);
}

TEST(P20, IsViolatedByTryingAStickyFailureAgain) {
  story told;
  told.begin("use s", "use", "raises").fails("cuStreamSynchronize", {stream_s}, illegal_address);
  told.fails("cuStreamSynchronize", {stream_s}, illegal_address).in_fault_state();
  told.raises("CUDAError", message_of(illegal_address)).end("raised").exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::violated);
}

TEST(P20, IsViolatedByHidingAStickyFailure) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, illegal_address).end().exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::violated);
}

TEST(P20, HoldsWhereEachStickyFailureShows) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, illegal_address);
  told.warns(report_of("cuStreamDestroy", illegal_address, stream_s)).end().exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::holds);
}

TEST(P20, IsNotExercisedByAPassingFailure) {
  story told;
  told.begin("make s", "make", "raises").fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P20").status, outcome::not_exercised);
}

TEST(P24, HoldsForASingleSet) {
  story told;
  told.begin("set_current d", "set_current", "raises", "d", true).enters(other).end().exits(0);
  EXPECT_EQ(told.found("P24").status, outcome::holds);
}

TEST(P24, IsViolatedByPopAndPush) {
  story told;
  told.begin("set_current d", "set_current", "raises", "d", true).call("cuCtxPopCurrent_v2", {0x7ff0}, home);
  told.call("cuCtxPushCurrent_v2", {other}).current(other).end().exits(0);
  EXPECT_EQ(told.found("P24").status, outcome::violated);
}

TEST(P24, IsViolatedByASecondSet) {
  story told;
  told.begin("set_current d", "set_current", "raises", "d", true).enters(other).enters(other).end().exits(0);
  EXPECT_EQ(told.found("P24").status, outcome::violated);
}

TEST(P24, IsViolatedWhereAFailureLeavesAnotherContextCurrent) {
  story told;
  told.begin("set_current d", "set_current", "raises", "d", true).enter_fails(other, invalid_context);
  told.raises("CUDAError", message_of(invalid_context)).current(0).end("raised").exits(0);
  EXPECT_EQ(told.found("P24").status, outcome::violated);
}

TEST(P24, IsViolatedWhereItNeedsAContextToBeCurrent) {
  story told;
  told.current(0).begin("set_current d", "set_current", "raises", "d", true).raises("CUDAError", "no context is bound");
  EXPECT_EQ(told.end("raised").exits(0).found("P24").status, outcome::violated);
}

TEST(P24, IsNotExercisedByOtherSteps) {
  EXPECT_EQ(story().begin("make s", "make", "raises").enters(other).restores(home).end().exits(0).found("P24").status,
            outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

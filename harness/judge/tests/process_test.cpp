// SPDX-License-Identifier: Apache-2.0
// Oracles about how the process ends: P21, P26.
#include <cufault/plan_format.h>
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

story failing_drop() {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  return told;
}

TEST(P21, HoldsWhereTheProcessEndsByItself) {
  EXPECT_EQ(failing_drop().end().exits(1).found("P21").status, outcome::holds);
}

TEST(P21, IsViolatedByASignal) {
  for (const char* signal : {"SIGABRT", "SIGSEGV", "SIGBUS"}) {
    EXPECT_EQ(failing_drop().dies_of(signal).found("P21").status, outcome::violated) << signal;
  }
}

TEST(P21, IsViolatedByASignalThatAShellTurnedIntoAStatus) {
  EXPECT_EQ(failing_drop().exits(134).found("P21").status, outcome::violated);
}

TEST(P21, IsViolatedByAnExitInTheMiddleOfAStep) {
  EXPECT_EQ(failing_drop().exits(1).found("P21").status, outcome::violated);
  EXPECT_EQ(failing_drop().unhandled("CUDAError", message_of(invalid_context)).exits(1).found("P21").status,
            outcome::holds);
}

TEST(P21, IsInconclusiveWhereTheDriverCrashesOnAContextThatAThirdPartyDestroyed) {
  story told;
  told.planned(CUFAULT_EFFECT_DESTROY_CONTEXT, "cuStreamSynchronize");
  told.begin("use s", "use", "raises").call("cuStreamSynchronize", {stream_s}).by_rule(1);
  told.driver_fails("cuEventRecord", {0xe000, 0}, 709)
      .call("cuCtxSetCurrent", {home})
      .never_returned()
      .dies_of("SIGSEGV");
  EXPECT_EQ(told.found("P21").status, outcome::inconclusive);
}

TEST(P21, IsInconclusiveWhereSomebodyElseEndedTheProcess) {
  EXPECT_EQ(failing_drop().dies_of("SIGTERM").found("P21").status, outcome::inconclusive);
  EXPECT_EQ(failing_drop().times_out().found("P21").status, outcome::inconclusive);
}

TEST(P21, IsNotExercisedWithoutAFailedCall) {
  EXPECT_EQ(story().call("cuStreamSynchronize", {stream_s}).exits(0).found("P21").status, outcome::not_exercised);
}

TEST(P26, HoldsWhereTheProcessEndsByItself) {
  EXPECT_EQ(failing_drop().end().exits(0).found("P26").status, outcome::holds);
}

TEST(P26, IsViolatedByTheTimeLimitAndNamesTheCallThatNeverReturned) {
  const finding found = failing_drop().call("cuCtxSynchronize", {}).never_returned().times_out().found("P26");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_EQ(found.problems.at(0).proof.at(1).symbol, "cuCtxSynchronize");
}

TEST(P26, IsInconclusiveWhereThePlanMadeACallHang) {
  story told = failing_drop();
  told.planned(CUFAULT_EFFECT_HANG, "cuCtxSynchronize").call("cuCtxSynchronize", {}).by_rule(1).never_returned();
  EXPECT_EQ(told.times_out().found("P26").status, outcome::inconclusive);
}

TEST(P26, IsNotExercisedWithoutAFailedCall) {
  EXPECT_EQ(story().call("cuStreamSynchronize", {stream_s}).exits(0).found("P26").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

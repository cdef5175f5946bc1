// SPDX-License-Identifier: Apache-2.0
// Oracles about what must be raised: P01, P02, P09, P25.
#include <gtest/gtest.h>

#include "story.h"
#include "text.h"

namespace cufault::judge::testing {
namespace {

story making_fails(int code = out_of_memory) {
  story told;
  told.begin("make s", "make", "raises", "s").fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, code);
  return told;
}

TEST(P01, HoldsWhereTheFailureOfACreationIsRaised) {
  story told = making_fails();
  told.raises("CUDAError", message_of(out_of_memory), out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P01").status, outcome::holds);
}

TEST(P01, IsViolatedWhereTheCreationGoesOnAsIfNothingHadHappened) {
  story told = making_fails();
  told.end("ok").exits(0);
  const finding found = told.found("P01");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_EQ(found.problems.at(0).proof.at(0).symbol, "cuStreamCreateWithPriority");
}

TEST(P01, IsViolatedWhereAWarningStandsInForTheException) {
  story told = making_fails();
  told.warns(message_of(out_of_memory)).end("ok").exits(0);
  EXPECT_EQ(told.found("P01").status, outcome::violated);
}

TEST(P01, IsViolatedWhereAnotherFailureOfTheSameStepIsRaisedInstead) {
  story told = making_fails();
  told.fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  told.raises("CUDAError", message_of(invalid_context), invalid_context).end("raised").exits(0);
  EXPECT_EQ(told.found("P01").status, outcome::violated);
}

TEST(P01, IsViolatedWhereEnteringTheContextFailsUnnoticed) {
  story told;
  told.begin("make s", "make", "raises").enter_fails(other, invalid_context);
  told.call("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, stream_s).end("ok").exits(0);
  EXPECT_EQ(told.found("P01").status, outcome::violated);
}

TEST(P01, CountsAnExceptionOfAnEarlierStepForNothing) {
  story told;
  told.begin("make a", "make", "raises").raises("CUDAError", message_of(out_of_memory)).end("raised");
  told.begin("make s", "make", "raises").fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, out_of_memory).end("ok");
  EXPECT_EQ(told.exits(0).found("P01").status, outcome::violated);
}

TEST(P01, IsNotExercisedByACleanUpWithoutStepsOrByExpectedAnswers) {
  story told;
  told.fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, out_of_memory);
  told.begin("use e", "use", "raises").driver_fails("cuEventQuery", {0xe000}, 600).end("ok");
  told.begin("drop s", "drop", "implicit").fails("cuStreamDestroy_v2", {stream_s}, invalid_context).end("ok").exits(0);
  EXPECT_EQ(told.found("P01").status, outcome::not_exercised);
}

TEST(P01, IsInconclusiveWhereTheProcessDiedInTheOperation) {
  story told = making_fails();
  told.dies_of("SIGSEGV");
  EXPECT_EQ(told.found("P01").status, outcome::inconclusive);
}

TEST(P02, HoldsWhereNameDescriptionAndCodeSurvive) {
  story told = making_fails();
  told.raises("CUDAError", message_of(out_of_memory), out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P02").status, outcome::holds);
}

TEST(P02, IsViolatedByAGenericRuntimeError) {
  story told = making_fails();
  told.raises("RuntimeError", message_of(out_of_memory), out_of_memory, {}, "builtins").end("raised").exits(0);
  const finding found = told.found("P02");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_EQ(found.problems.at(0).by, author::R);
}

TEST(P02, IsViolatedByAMessageWithoutTheName) {
  story told = making_fails();
  told.raises("CUDAError", "failed to create a stream", out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P02").status, outcome::violated);
}

TEST(P02, IsViolatedByTheNameAlone) {
  story told = making_fails();
  told.raises("CUDAError", "CUDA_ERROR_OUT_OF_MEMORY", out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P02").status, outcome::violated);
}

TEST(P02, AMissingAttributeIsAProblemThatUsersState) {
  story told = making_fails();
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  const finding found = told.found("P02");
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_EQ(found.problems[0].by, author::U);
}

TEST(P02, AcceptsTheNumberWhereTheDriverGivesNoName) {
  story told = making_fails(deinitialized);
  told.raises("CUDAError", "cuStreamCreateWithPriority failed with error 4", deinitialized).end("raised").exits(0);
  EXPECT_EQ(told.found("P02").status, outcome::holds);
  story named = making_fails(out_of_memory);
  named.raises("CUDAError", "cuStreamCreateWithPriority failed with error 2", out_of_memory).end("raised").exits(0);
  EXPECT_EQ(named.found("P02").status, outcome::violated);
}

TEST(P02, IsNotExercisedWhereNothingWasRaised) {
  story told = making_fails();
  EXPECT_EQ(told.end("ok").exits(0).found("P02").status, outcome::not_exercised);
}

// A creation in another context whose restoration fails; the undo is the caller's to tell.
story restoring_fails() {
  story told;
  told.begin("make s", "make", "raises", "s").enters(other);
  told.call("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, stream_s).restore_fails(home, invalid_context);
  return told;
}

std::string restoration_message() {
  return message_of(invalid_context) + "; context " + hex(other) + " is now current, call Device.set_current()";
}

TEST(P09, HoldsWhereTheCreationIsUndoneAndTheMessageSaysWhatIsCurrent) {
  story told = restoring_fails();
  told.call("cuStreamDestroy_v2", {stream_s}).raises("CUDAError", restoration_message(), invalid_context);
  EXPECT_EQ(told.end("raised").exits(0).found("P09").status, outcome::holds);
}

TEST(P09, IsViolatedWhereTheRestorationsStatusIsNotRaised) {
  story told = restoring_fails();
  EXPECT_EQ(told.end("ok").exits(0).found("P09").status, outcome::violated);
}

TEST(P09, IsViolatedWhereSomethingElseIsRaised) {
  story told = restoring_fails();
  told.call("cuStreamDestroy_v2", {stream_s});
  told.raises("CUDAError", "lost: " + hex(other) + " is current, call set_current").end("raised").exits(0);
  const finding found = told.found("P09");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_EQ(found.problems.size(), 1u);
}

TEST(P09, IsViolatedWhereTheCreatedObjectStays) {
  story told = restoring_fails();
  told.raises("CUDAError", restoration_message(), invalid_context).end("raised").exits(0);
  const finding found = told.found("P09");
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_NE(found.reason.find("was not undone"), std::string::npos);
}

TEST(P09, IsViolatedByAMessageThatDoesNotSayWhichContextIsCurrent) {
  story told = restoring_fails();
  told.call("cuStreamDestroy_v2", {stream_s});
  told.raises("CUDAError", message_of(invalid_context) + "; call set_current", invalid_context).end("raised").exits(0);
  const finding found = told.found("P09");
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_NE(found.reason.find("is current now"), std::string::npos);
}

TEST(P09, IsViolatedByAMessageThatDoesNotSayWhatToCall) {
  story told = restoring_fails();
  told.call("cuStreamDestroy_v2", {stream_s});
  told.raises("CUDAError", message_of(invalid_context) + "; now current: " + hex(other), invalid_context).end("raised");
  const finding found = told.exits(0).found("P09");
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_NE(found.reason.find("what to call"), std::string::npos);
}

TEST(P09, IsNotExercisedWhereTheOperationFailedBefore) {
  story told;
  told.begin("make s", "make", "raises").enters(other);
  told.fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, out_of_memory).restore_fails(home, invalid_context);
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P09").status, outcome::not_exercised);
}

TEST(P25, HoldsWhereDeallocateRaises) {
  story told;
  told.begin("deallocate b", "deallocate", "raises", "b").fails("cuMemFree_v2", {0xb000}, invalid_context);
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P25").status, outcome::holds);
}

TEST(P25, IsViolatedWhereDeallocateOnlyWarns) {
  story told;
  told.begin("deallocate b", "deallocate", "raises", "b").fails("cuMemFree_v2", {0xb000}, invalid_context);
  told.warns(report_of("cuMemFree", invalid_context, 0xb000)).end("ok").exits(0);
  EXPECT_EQ(told.found("P25").status, outcome::violated);
}

TEST(P25, IsNotExercisedByAFailingFreeOfADroppedBuffer) {
  story told;
  told.begin("drop b", "drop", "implicit", "b").fails("cuMemFree_v2", {0xb000}, invalid_context).end("ok").exits(0);
  EXPECT_EQ(told.found("P25").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

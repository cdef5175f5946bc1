// SPDX-License-Identifier: Apache-2.0
// Oracles about second failures and what comes after one: P03, P07, P10, P11, P13.
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

story failed_make() {
  story told;
  told.begin("make s", "make", "raises", "s").fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.raises("CUDAError", message_of(out_of_memory), out_of_memory).end("raised");
  return told;
}

TEST(P03, HoldsWhereTheNextOperationIsClean) {
  story told = failed_make();
  told.begin("make e", "make", "raises", "e").call("cuEventCreate", {0x7ff0, 0}, 0xe000).end("ok").exits(0);
  EXPECT_EQ(told.found("P03").status, outcome::holds);
}

TEST(P03, IsViolatedWhereTheNextOperationRaisesTheEarlierError) {
  story told = failed_make();
  told.begin("make e", "make", "raises", "e").call("cuEventCreate", {0x7ff0, 0}, 0xe000);
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P03").status, outcome::violated);
}

TEST(P03, IsNotExercisedAfterAStickyError) {
  story told;
  told.begin("use s", "use", "raises").fails("cuStreamSynchronize", {stream_s}, illegal_address);
  told.raises("CUDAError", message_of(illegal_address)).end("raised");
  told.begin("make e", "make", "raises").raises("CUDAError", message_of(illegal_address)).end("raised").exits(0);
  EXPECT_EQ(told.found("P03").status, outcome::not_exercised);
}

TEST(P07, HoldsWhereTheRetrySucceeds) {
  story told = failed_make();
  told.begin("retry make s", "retry", "raises", "s").call("cuStreamCreate", {0x7ff0, 0}, stream_s).end("ok").exits(0);
  EXPECT_EQ(told.found("P07").status, outcome::holds);
}

TEST(P07, IsViolatedWhereTheRetryRaisesThoughNoCallFails) {
  story told = failed_make();
  told.begin("retry make s", "retry", "raises", "s")
      .raises("ValueError", "the object is broken")
      .end("raised")
      .exits(0);
  EXPECT_EQ(told.found("P07").status, outcome::violated);
}

TEST(P07, IsNotExercisedWhereTheDriverFailsTheRetryToo) {
  story told = failed_make();
  told.begin("retry make s", "retry", "raises", "s").fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P07").status, outcome::not_exercised);
}

// The operation fails, then its restoration; what shows is the caller's to tell.
story both_fail() {
  story told;
  told.begin("make s", "make", "raises", "s").enters(other).fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.restore_fails(home, invalid_context);
  return told;
}

std::string restoration_report() { return report_of("cuCtxSetCurrent", invalid_context, home); }

TEST(P10, HoldsWhereTheOperationsErrorIsRaisedAndTheRestorationsReported) {
  story told = both_fail();
  told.warns(restoration_report()).raises("CUDAError", message_of(out_of_memory), out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P10").status, outcome::holds);
}

TEST(P10, IsViolatedWhereTheRestorationsErrorHidesTheOperations) {
  story told = both_fail();
  told.raises("CUDAError", message_of(invalid_context), invalid_context).end("raised").exits(0);
  EXPECT_EQ(told.found("P10").status, outcome::violated);
}

TEST(P10, IsViolatedWhereTheRestorationsErrorShowsNowhere) {
  story told = both_fail();
  told.raises("CUDAError", message_of(out_of_memory), out_of_memory).end("raised").exits(0);
  EXPECT_EQ(told.found("P10").status, outcome::violated);
}

TEST(P10, ANoteIsRightOnlyWhereTheProfileSaysSo) {
  story told = both_fail();
  told.raises("CUDAError", message_of(out_of_memory), out_of_memory, {restoration_report()}).end("raised").exits(0);
  EXPECT_EQ(told.found("P10", "rfc").status, outcome::violated);
  EXPECT_EQ(told.found("P10", "strict").status, outcome::holds);
}

TEST(P10, IsNotExercisedWhereOnlyTheRestorationFails) {
  story told;
  told.begin("make s", "make", "raises").enters(other).restore_fails(home, invalid_context);
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P10").status, outcome::not_exercised);
}

// The operation fails, then the undo of what it had made.
story undo_fails() {
  story told;
  told.begin("make s", "make", "raises", "s").call("cuEventCreate", {0x7ff0, 0}, 0xe000);
  told.fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory).fails("cuEventDestroy_v2", {0xe000}, invalid_context);
  return told;
}

TEST(P11, HoldsWhereTheFailedUndoIsReportedBesideTheException) {
  story told = undo_fails();
  told.warns(report_of("cuEventDestroy", invalid_context, 0xe000));
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P11").status, outcome::holds);
}

TEST(P11, IsViolatedWhereTheFailedUndoShowsNowhere) {
  story told = undo_fails();
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P11").status, outcome::violated);
}

TEST(P11, IsViolatedWhereTheUndosErrorReplacesTheFirst) {
  story told = undo_fails();
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P11").status, outcome::violated);
}

TEST(P11, IsNotExercisedByASingleFailure) {
  EXPECT_EQ(failed_make().exits(0).found("P11").status, outcome::not_exercised);
}

story reported(std::string text) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  told.warns(std::move(text)).end().exits(0);
  return told;
}

TEST(P13, HoldsWhereTheReportNamesCallHandleAndError) {
  EXPECT_EQ(reported(report_of("cuStreamDestroy", invalid_context, stream_s)).found("P13").status, outcome::holds);
}

TEST(P13, IsViolatedByAReportThatLeavesOneOut) {
  EXPECT_EQ(reported("0x5000 failed: " + message_of(invalid_context)).found("P13").status, outcome::violated);
  EXPECT_EQ(reported("cuStreamDestroy failed: " + message_of(invalid_context)).found("P13").status, outcome::violated);
}

TEST(P13, ThatTheErrorIsNamedIsTheDocumentsOwn) {
  const finding found = reported("cuStreamDestroy(0x5000) failed: invalid device context").found("P13");
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_EQ(found.problems[0].by, author::R);
}

TEST(P13, IsNotExercisedWithoutAReport) {
  EXPECT_EQ(failed_make().exits(0).found("P13").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

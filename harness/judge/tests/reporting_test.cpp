// SPDX-License-Identifier: Apache-2.0
// Oracles about what can only be reported: P08, P12, P15, P17.
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

story dropping_fails(int code = invalid_context) {
  story told;
  told.begin("make s", "make", "raises", "s").call("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, stream_s).end("ok");
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, code);
  return told;
}

std::string stream_report(int code = invalid_context) { return report_of("cuStreamDestroy", code, stream_s); }

story closing_fails() {
  story told;
  told.begin("close s", "close", "either", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  return told;
}

TEST(P08, HoldsWhereAFailureShowsOnce) {
  EXPECT_EQ(dropping_fails().warns(stream_report()).end().exits(0).found("P08").status, outcome::holds);
}

TEST(P08, IsViolatedWhereAFailureIsSwallowed) {
  const finding found = dropping_fails().end().exits(0).found("P08");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("shows nowhere"), std::string::npos);
}

TEST(P08, IsViolatedWhereAFailureIsWarnedOfAndPrinted) {
  story told = dropping_fails();
  told.warns(stream_report()).writes_to_stderr("Warning: " + stream_report() + "\n").end().exits(0);
  const finding found = told.found("P08");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("2 channels"), std::string::npos);
}

TEST(P08, IsViolatedWhereACloseRaisesAndWarnsOfTheSameFailure) {
  story told = closing_fails();
  told.warns(stream_report()).raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P08").status, outcome::violated);
}

TEST(P08, DoesNotCountHowPythonItselfShowsAWarning) {
  story told = dropping_fails();
  told.warns(stream_report());
  told.writes_to_stderr("/lib/x.py:3: CUDAWarning: " + stream_report() +
                        "\n  s.close()  # CUDA_ERROR_INVALID_CONTEXT\n");
  EXPECT_EQ(told.end().exits(0).found("P08").status, outcome::holds);
}

TEST(P08, DoesNotCountATracebackOfARecordedException) {
  story told = closing_fails();
  told.raises("CUDAError", message_of(invalid_context)).end("raised");
  told.writes_to_stderr(
      "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    s.close()\nlib.CUDAError: " +
      message_of(invalid_context) + "\n");
  EXPECT_EQ(told.exits(1).found("P08").status, outcome::holds);
}

TEST(P08, TwoFailuresOfOneCodeNeedTwoReports) {
  story told = dropping_fails();
  told.fails("cuEventDestroy_v2", {0xe000}, invalid_context).warns(stream_report()).end().exits(0);
  EXPECT_EQ(told.found("P08").status, outcome::violated);
  story both = dropping_fails();
  both.fails("cuEventDestroy_v2", {0xe000}, invalid_context)
      .warns(report_of("cuEventDestroy", invalid_context, 0xe000));
  EXPECT_EQ(both.warns(stream_report()).end().exits(0).found("P08").status, outcome::holds);
}

TEST(P08, AnExceptionMayMentionALaterFailureThatIsReported) {
  story told;
  told.begin("make s", "make", "raises").fails("cuStreamCreate", {0x7ff0, 0}, out_of_memory);
  told.fails("cuEventDestroy_v2", {0xe000}, invalid_context)
      .warns(report_of("cuEventDestroy", invalid_context, 0xe000));
  told.raises("CUDAError", message_of(out_of_memory), 0, {report_of("cuEventDestroy", invalid_context, 0xe000)});
  EXPECT_EQ(told.end("raised").exits(0).found("P08").status, outcome::holds);
}

TEST(P08, IsNotExercisedByExpectedAnswersNestedCallsAndFinalization) {
  story told;
  told.begin("use e", "use", "raises").driver_fails("cuEventQuery", {0xe000}, 600).end();
  told.begin("use s", "use", "raises").driver_fails("cuStreamCreate", {0x7ff0, 0}, 800).nested().end();
  told.finalizes().fails("cuStreamDestroy_v2", {stream_s}, invalid_context).exits(0);
  EXPECT_EQ(told.found("P08").status, outcome::not_exercised);
}

TEST(P08, IsInconclusiveUnderAProgramsOwnFilter) {
  story told;
  told.program_filters_warnings();
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context).end().exits(0);
  EXPECT_EQ(told.found("P08").status, outcome::inconclusive);
}

TEST(P12, HoldsWhereTheReportIsACUDAWarning) {
  EXPECT_EQ(dropping_fails().warns(stream_report()).end().exits(0).found("P12").status, outcome::holds);
}

TEST(P12, HoldsWhereAnEscalatedReportIsUnraisable) {
  story told = dropping_fails();
  told.unraisable("CUDAWarning", stream_report(), {"lib.CUDAWarning", "builtins.RuntimeWarning"}).end().exits(0);
  EXPECT_EQ(told.found("P12").status, outcome::holds);
}

TEST(P12, HoldsForTheReportOfACppLibrary) {
  EXPECT_EQ(dropping_fails().report(stream_report()).end().exits(0).found("P12").status, outcome::holds);
}

TEST(P12, IsViolatedBySilence) {
  const finding found = dropping_fails().end().exits(0).found("P12");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("was not reported"), std::string::npos);
}

TEST(P12, IsViolatedByALineOnStderr) {
  story told = dropping_fails();
  told.writes_to_stderr("Warning: destroying a stream failed: CUDA_ERROR_INVALID_CONTEXT\n").end().exits(0);
  const finding found = told.found("P12");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("written to stderr"), std::string::npos);
  EXPECT_EQ(found.problems.at(0).proof.at(1).what, "stderr");
}

TEST(P12, IsViolatedByAWarningOfAnotherCategoryOrBase) {
  EXPECT_EQ(dropping_fails().warns(stream_report(), "UserWarning", "Warning").end().exits(0).found("P12").status,
            outcome::violated);
  EXPECT_EQ(dropping_fails().warns(stream_report(), "CUDAWarning", "UserWarning").end().exits(0).found("P12").status,
            outcome::violated);
}

TEST(P12, IsViolatedByAnExceptionThatEscapesFromADestructor) {
  story told = dropping_fails();
  told.unraisable("CUDAError", message_of(invalid_context)).end().exits(0);
  const finding found = told.found("P12");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("sys.unraisablehook"), std::string::npos);
}

TEST(P12, IsNotExercisedWhereAClosingRaises) {
  story told = closing_fails();
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P12").status, outcome::not_exercised);
}

TEST(P15, HoldsInSilence) {
  const story told = dropping_fails(deinitialized).end().exits(0);
  EXPECT_EQ(told.found("P15").status, outcome::holds);
  EXPECT_EQ(told.found("P08").status, outcome::not_exercised);
}

TEST(P15, IsViolatedByAReportFromCleanUp) {
  EXPECT_EQ(dropping_fails(deinitialized).warns(stream_report(deinitialized)).end().exits(0).found("P15").status,
            outcome::violated);
}

TEST(P15, IsViolatedByALineOnStderrDuringFinalization) {
  story told;
  told.finalizes().fails("cuStreamDestroy_v2", {stream_s}, deinitialized);
  told.writes_to_stderr("cuStreamDestroy failed: driver shutting down\n").exits(0);
  EXPECT_EQ(told.found("P15").status, outcome::violated);
}

TEST(P15, IsViolatedWhereItCouldBeRaisedAndWasNot) {
  story told;
  told.begin("make s", "make", "raises").fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, deinitialized);
  EXPECT_EQ(told.end("ok").exits(0).found("P15").status, outcome::violated);
}

TEST(P15, HoldsWhereItIsRaised) {
  story told;
  told.begin("make s", "make", "raises").fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, deinitialized);
  told.raises("CUDAError", message_of(deinitialized)).end("raised").exits(0);
  EXPECT_EQ(told.found("P15").status, outcome::holds);
}

TEST(P15, IsNotExercisedByOtherCodes) {
  EXPECT_EQ(dropping_fails().end().exits(0).found("P15").status, outcome::not_exercised);
}

// An object of `other`, dropped while `home` is current.
story foreign_drop() {
  story told;
  told.current(other).begin("make a", "make", "raises", "a");
  told.call("cuArray3DCreate_v2", {0x7ff0, 0x7ff8}, 0xa000).end("ok");
  told.current(home).begin("drop a", "drop", "implicit", "a");
  return told;
}

TEST(P17, HoldsWhereTheCleanUpIsSkippedAndReported) {
  story told = foreign_drop();
  told.enter_fails(other, invalid_context).warns(report_of("cuCtxSetCurrent", invalid_context, other)).end().exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::holds);
}

TEST(P17, IsViolatedWhereTheSkippedCleanUpIsNotReported) {
  story told = foreign_drop();
  EXPECT_EQ(told.enter_fails(other, invalid_context).end().exits(0).found("P17").status, outcome::violated);
}

TEST(P17, IsViolatedWhereTheObjectIsDestroyedInTheWrongContext) {
  story told = foreign_drop();
  told.enter_fails(other, invalid_context).warns(report_of("cuCtxSetCurrent", invalid_context, other));
  told.call("cuArrayDestroy", {0xa000}).end().exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::violated);
}

TEST(P17, HoldsWhereTheFailedRestorationIsReportedAndLeft) {
  story told = foreign_drop();
  told.enters(other).call("cuArrayDestroy", {0xa000}).restore_fails(home, invalid_context);
  told.warns(report_of("cuCtxSetCurrent", invalid_context, home)).end().exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::holds);
}

TEST(P17, IsViolatedWhereTheFailedRestorationIsNotReported) {
  story told = foreign_drop();
  told.enters(other).call("cuArrayDestroy", {0xa000}).restore_fails(home, invalid_context).end().exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::violated);
}

TEST(P17, IsViolatedWhereTheCleanUpsContextIsNotKept) {
  story told = foreign_drop();
  told.enters(other).call("cuArrayDestroy", {0xa000}).restore_fails(home, invalid_context);
  told.warns(report_of("cuCtxSetCurrent", invalid_context, home)).restores(home).end().exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::violated);
}

TEST(P17, IsNotExercisedWhereAnOperationCannotEnter) {
  story told;
  told.begin("make s", "make", "raises").enter_fails(other, invalid_context);
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P17").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

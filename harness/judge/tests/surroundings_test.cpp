// SPDX-License-Identifier: Apache-2.0
// Oracles about helpers, filters, finalization and missing functions: P06, P14, P22, P29.
#include <cufault/plan_format.h>
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

TEST(P06, HoldsForASetAndItsRestoration) {
  EXPECT_EQ(story().begin("make s", "make", "raises").enters(other).restores(home).end().exits(0).found("P06").status,
            outcome::holds);
}

TEST(P06, IsViolatedByAPushAndByAPop) {
  story push;
  push.begin("make s", "make", "raises").call("cuCtxPushCurrent_v2", {other}).end().exits(0);
  EXPECT_EQ(push.found("P06").status, outcome::violated);
  story pop;
  pop.begin("make s", "make", "raises").call("cuCtxPopCurrent_v2", {0x7ff0}, other).end().exits(0);
  EXPECT_EQ(pop.found("P06").status, outcome::violated);
}

TEST(P06, AllowsThePopThatUndoesTheCreationOfAContext) {
  story told;
  told.begin("make c", "make", "raises").call("cuCtxCreate_v2", {0x7ff0, 0, 0}, other);
  told.call("cuCtxPopCurrent_v2", {0x7ff0}, other).end().exits(0);
  EXPECT_EQ(told.found("P06").status, outcome::holds);
}

TEST(P06, IsViolatedByASetWithoutRestoration) {
  EXPECT_EQ(story().begin("make s", "make", "raises").enters(other).end().exits(0).found("P06").status,
            outcome::violated);
}

TEST(P06, IsNotExercisedByFreeCodeAndBySetCurrent) {
  story told;
  told.begin("python", "python", "free").call("cuCtxPushCurrent_v2", {other}).end();
  told.begin("set_current d", "set_current", "raises", "", true).enters(other).end().exits(0);
  EXPECT_EQ(told.found("P06").status, outcome::not_exercised);
}

story escalated() {
  story told;
  told.begin("warnings error", "warnings", "free").end();
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  return told;
}

TEST(P14, HoldsWhereTheReportBecomesUnraisable) {
  story told = escalated();
  told.unraisable("CUDAWarning", report_of("cuStreamDestroy", invalid_context, stream_s), {"lib.CUDAWarning"});
  EXPECT_EQ(told.end().exits(0).found("P14").status, outcome::holds);
}

TEST(P14, IsViolatedWhereTheReportGetsLostOrIsRaised) {
  EXPECT_EQ(escalated().end().exits(0).found("P14").status, outcome::violated);
  story told = escalated();
  told.raises("CUDAWarning", report_of("cuStreamDestroy", invalid_context, stream_s)).end("raised").exits(0);
  EXPECT_EQ(told.found("P14").status, outcome::violated);
}

TEST(P14, IsNotExercisedUnderTheOrdinaryFilter) {
  story told;
  told.begin("drop s", "drop", "implicit", "s").fails("cuStreamDestroy_v2", {stream_s}, invalid_context).end().exits(0);
  EXPECT_EQ(told.found("P14").status, outcome::not_exercised);
}

story finalizing_fails(int code) {
  story told;
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s).finalizes().fails("cuStreamDestroy_v2", {stream_s}, code);
  return told;
}

TEST(P22, HoldsWhereObjectsAreLeakedOrEndedInSilence) {
  EXPECT_EQ(story().call("cuStreamCreate", {0x7ff0, 0}, stream_s).finalizes().exits(0).found("P22").status,
            outcome::holds);
  EXPECT_EQ(finalizing_fails(deinitialized).exits(0).found("P22").status, outcome::holds);
}

TEST(P22, IsViolatedByPythonWorkDuringFinalization) {
  EXPECT_EQ(finalizing_fails(invalid_context)
                .warns(report_of("cuStreamDestroy", invalid_context, stream_s))
                .exits(0)
                .found("P22")
                .status,
            outcome::violated);
}

TEST(P22, IsViolatedByALineOnStderrForDeinitializedOnly) {
  story quiet = finalizing_fails(invalid_context);
  quiet.writes_to_stderr("cuStreamDestroy failed: CUDA_ERROR_INVALID_CONTEXT\n").exits(0);
  EXPECT_EQ(quiet.found("P22").status, outcome::holds);
  story loud = finalizing_fails(deinitialized);
  loud.writes_to_stderr("cuStreamDestroy failed: CUDA_ERROR_DEINITIALIZED\n").exits(0);
  EXPECT_EQ(loud.found("P22").status, outcome::violated);
}

TEST(P22, IsViolatedByAnotherExitStatus) {
  EXPECT_EQ(finalizing_fails(invalid_context).exits(1).found("P22").status, outcome::violated);
  EXPECT_EQ(finalizing_fails(invalid_context).dies_of("SIGSEGV").found("P22").status, outcome::violated);
}

TEST(P22, IsNotExercisedWithoutObjects) {
  EXPECT_EQ(story().finalizes().exits(0).found("P22").status, outcome::not_exercised);
}

story missing() {
  story told;
  told.planned(CUFAULT_EFFECT_MISSING, "cuStreamCreateWithPriority");
  told.record(CUFAULT_RECORD_LOOKUP, "", CUFAULT_LOOKUP_HIDDEN, "cuStreamCreateWithPriority");
  told.begin("make s", "make", "raises", "s");
  return told;
}

TEST(P29, HoldsWhereTheErrorNamesTheFunction) {
  story told = missing();
  told.raises("FunctionNotFoundError", "function cuStreamCreateWithPriority is not found").end("raised").exits(0);
  EXPECT_EQ(told.found("P29").status, outcome::holds);
}

TEST(P29, IsViolatedByAnExceptionLeftPending) {
  story told = missing();
  told.raises("SystemError", "<built-in function x> returned a result with an exception set").end("raised").exits(0);
  EXPECT_EQ(told.found("P29").status, outcome::violated);
}

TEST(P29, IsViolatedByAnErrorThatDoesNotSayWhatIsMissing) {
  story told = missing();
  told.raises("RuntimeError", "Failed to create a stream").end("raised").exits(0);
  EXPECT_EQ(told.found("P29").status, outcome::violated);
}

TEST(P29, IsNotExercisedWhereTheFunctionWasNotNeeded) {
  EXPECT_EQ(missing().end("ok").exits(0).found("P29").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

// SPDX-License-Identifier: Apache-2.0
// Whole programs under the shim: what they get, what the driver gets, what the trace says.
#include <gmock/gmock.h>

#include <csignal>

#include "cufault/api_table.h"
#include "cufault/control_page.h"
#include "program.h"

namespace cufault::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

cufault_plan_rule nth(std::uint64_t ordinal, std::int32_t code = 700) {
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_FAIL, code);
  rule.from = ordinal;
  return rule;
}

TEST(WithoutAPlan, CallsGoToTheDriverThatTheProcessWouldHaveUsed) {
  program under;
  under.variables["LD_PRELOAD"] = preload_of_the_shim();
  under.variables["STANDIN"] = from_environment("DRIVER_FOLDER") + "/libcuda.so.1";
  // The folder of the shim comes first, as a launcher arranges it: the shim must not take itself for the driver.
  under.variables["LD_LIBRARY_PATH"] = from_environment("SHIM_FOLDER") + ":" + from_environment("DRIVER_FOLDER");
  const outcome out = under.run({from_environment("VICTIM"), "init", "make", "destroy", "counted"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("cuStreamDestroy"), 0);
  EXPECT_EQ(out.printed("driver's cuStreamDestroy_v2"), 1);
  EXPECT_THAT(out.err, IsEmpty());
}

TEST(WithoutAPlan, AndWithoutADriverOneLineSaysSoAndCallsAnswerNoDevice) {
  program under;
  under.variables["LD_PRELOAD"] = preload_of_the_shim();
  const outcome out = under.run({from_environment("VICTIM"), "init", "sync"});
  EXPECT_EQ(out.status, 0);
  EXPECT_EQ(out.printed("cuInit"), 100);
  EXPECT_EQ(out.printed("cuCtxSynchronize"), 100);
  EXPECT_THAT(out.err, HasSubstr("no driver"));
  EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1);
}

TEST(WithoutAPlan, ControlCallsSayThatTheShimIsIdle) {
  program under;
  under.variables["LD_PRELOAD"] = preload_of_the_shim();
  under.variables["STANDIN"] = from_environment("DRIVER_FOLDER") + "/libcuda.so.1";
  under.variables["LD_LIBRARY_PATH"] = from_environment("DRIVER_FOLDER");
  const outcome out = under.run({from_environment("VICTIM"), "steps"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("active"), 1);
  EXPECT_EQ(out.printed("begin"), 1);
  EXPECT_EQ(out.printed("calls"), 0);
}

TEST(WithoutAPlan, TheToolkitsStubIsPassedOver) {
  program under;
  under.variables["LD_PRELOAD"] = preload_of_the_shim();
  under.variables["STANDIN"] = from_environment("DRIVER_FOLDER") + "/libcuda.so.1";
  under.variables["LD_LIBRARY_PATH"] = from_environment("STUB_FOLDER") + ":" + from_environment("DRIVER_FOLDER");
  const outcome out = under.run({from_environment("VICTIM"), "init"});
  EXPECT_EQ(out.printed("cuInit"), 0) << out.err;
}

TEST(APlanThatCannotBeHonoured, EndsTheProcessBeforeAnyCallIsAnswered) {
  shim_run run;
  run.plan.add(plain_rule(), {"cuNoSuchFunction"});
  const outcome out = run.victim({"init"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.out, IsEmpty());
  EXPECT_THAT(out.err, ::testing::AllOf(HasSubstr("cuNoSuchFunction"), HasSubstr(run.plan_file())));
}

TEST(APlanThatCannotBeHonoured, IsOneThatIsNotThere) {
  shim_run run;
  const outcome out = run.under.run({from_environment("VICTIM"), "init"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.err, HasSubstr(run.plan_file()));
}

TEST(APlanThatCannotBeHonoured, IsOneWhoseDriverIsNotThere) {
  shim_run run;
  run.plan.header.backend_path = run.plan.string("/nonexistent/libdriver.so");
  const outcome out = run.victim({"init"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.err, HasSubstr("/nonexistent/libdriver.so"));
}

TEST(APlanThatCannotBeHonoured, IsOneWhoseFolderTakesNoTrace) {
  shim_run run;
  run.plan.header.run_folder = run.plan.string("/nonexistent/runs");
  const outcome out = run.victim({"init"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.err, HasSubstr("/nonexistent/runs"));
}

TEST(APlanThatCannotBeHonoured, IsNotReadByAProgramThatMakesNoDriverCall) {
  shim_run run;
  EXPECT_EQ(run.under.run({from_environment("VICTIM")}).status, 0);
}

TEST(Faults, TheNthCallFailsAndDoesNotReachTheDriver) {
  shim_run run;
  run.plan.add(nth(2), {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync", "sync", "sync", "counted"});
  EXPECT_EQ(out.printed("cuCtxSynchronize", 1), 0);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 700);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 3), 0);
  EXPECT_EQ(out.printed("driver's cuCtxSynchronize"), 2);
  const std::vector<trace_record> calls = run.trace().calls("cuCtxSynchronize");
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_EQ(calls[1].call().result_given, 700);
  EXPECT_EQ(calls[1].call().result_real, CUFAULT_NOT_FORWARDED);
  EXPECT_EQ(calls[1].call().rule, 1u);
  EXPECT_EQ(calls[1].call().ordinal, 2u);
  EXPECT_TRUE(calls[1].has(CUFAULT_CALL_INJECTED));
  EXPECT_FALSE(calls[0].has(CUFAULT_CALL_INJECTED));
  EXPECT_EQ(calls[2].call().rule, 0u);
}

TEST(Faults, CallThenFailReachesTheDriver) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_CALL_THEN_FAIL, 201), {"cuStreamCreate", "cuStreamDestroy_v2"});
  const outcome out = run.victim({"make", "destroy", "counted"});
  EXPECT_EQ(out.printed("cuStreamCreate"), 201);
  const std::vector<trace_record> calls = run.trace().calls("cuStreamCreate");
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].call().result_real, 0);
  ASSERT_EQ(calls[0].call().outc, 1);
  EXPECT_EQ(calls[0].call().outs[0] & ~0xfffffULL, 0u) << "the driver made a stream, and the trace knows which";
  EXPECT_NE(calls[0].call().outs[0], 0u);
}

TEST(Faults, SixtyFourThreadsMeetTheThousandthCallOnce) {
  shim_run run;
  run.plan.add(nth(1000), {"cuCtxSynchronize"});
  const outcome out = run.victim({"threads"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_NO_THROW((void)out.printed("failed"));
  EXPECT_THROW((void)out.printed("failed", 2), std::runtime_error);
  const run_trace trace = run.trace();
  EXPECT_EQ(trace.lost, 0u);
  std::vector<trace_record> injected;
  for (const trace_record &each : trace.calls("cuCtxSynchronize")) {
    if (each.has(CUFAULT_CALL_INJECTED)) injected.push_back(each);
  }
  ASSERT_THAT(injected, SizeIs(1));
  EXPECT_EQ(injected[0].call().ordinal, 1000u);
  EXPECT_THAT(trace.calls("cuCtxSynchronize"), SizeIs(3200));
}

TEST(Faults, EnterAndRestoreAreTheSwitchesOfAStep) {
  shim_run run;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_FAIL, 201);
  rule.switch_role = CUFAULT_SWITCH_RESTORE;
  rule.step = run.plan.step("switch");
  run.plan.add(rule, {"cuCtxSetCurrent"});
  const outcome out = run.victim({"init", "switch"});
  EXPECT_EQ(out.printed("enter"), 0);
  EXPECT_EQ(out.printed("restore"), 201);
  const std::vector<trace_record> calls = run.trace().calls("cuCtxSetCurrent");
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_TRUE(calls[1].has(CUFAULT_CALL_ENTER));
  EXPECT_EQ(calls[1].call().context_before, 0xc0000u);
  EXPECT_EQ(calls[1].call().context_after, 0xdead0u);
  EXPECT_TRUE(calls[2].has(CUFAULT_CALL_RESTORE));
  EXPECT_EQ(calls[2].call().context_after, 0xdead0u) << "the restore failed: the other context stays current";
}

TEST(Faults, AMissingFunctionIsNotFoundAsTheDriverItselfWouldSay) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_MISSING, 0), {"cuStreamDestroy", "cuStreamDestroy_v2"});
  const outcome out = run.victim({"look-up", "make", "destroy"});
  EXPECT_EQ(out.printed("new"), 0);
  EXPECT_EQ(out.printed("is cuStreamDestroy_v2"), 0);
  EXPECT_EQ(out.printed("status"), 1);
  EXPECT_EQ(out.printed("old"), 500);
  EXPECT_EQ(out.printed("cuStreamDestroy"), 500) << "a pointer that was kept";
  EXPECT_EQ(run.trace().of_type(CUFAULT_RECORD_LOOKUP).at(0).raw.body.text.kind, unsigned{CUFAULT_LOOKUP_HIDDEN});
}

TEST(Faults, ADelayWaitsAndForwards) {
  shim_run run;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_DELAY, 0);
  rule.delay_ns = 3'000'000;
  run.plan.add(rule, {"cuCtxSynchronize"});
  EXPECT_EQ(run.victim({"sync"}).printed("cuCtxSynchronize"), 0);
  const trace_record call = run.trace().calls("cuCtxSynchronize").at(0);
  EXPECT_GE(call.raw.end_ns - call.raw.begin_ns, 3'000'000u);
  EXPECT_FALSE(call.has(CUFAULT_CALL_INJECTED));
  EXPECT_EQ(call.call().rule, 1u);
}

TEST(Faults, AHangNeverReturnsAndStaysOpenInTheTrace) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_HANG, 0), {"cuCtxSynchronize"});
  EXPECT_EQ(run.victim({"alarm", "sync"}).status, 128 + SIGALRM);
  EXPECT_EQ(run.trace().calls("cuCtxSynchronize").at(0).raw.state, CUFAULT_RECORD_OPEN);
}

TEST(Faults, ACallbackIsTheProgramsOwnFunctionAndItsCallsAreNested) {
  shim_run run;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_CALLBACK, 0);
  rule.callback = run.plan.string("victim_called_back");
  rule.limit = 0;
  run.plan.add(rule, {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync"});
  EXPECT_THAT(out.out, HasSubstr("called back at cuCtxSynchronize"));
  EXPECT_EQ(out.printed("inside"), 0);
  EXPECT_EQ(out.printed("cuCtxSynchronize"), 0);
  const auto calls = run.trace().calls("cuCtxSynchronize");
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_TRUE(calls[1].has(CUFAULT_CALL_NESTED));
}

TEST(Faults, ACallbackThatNobodyExportsEndsTheProcess) {
  shim_run run;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_CALLBACK, 0);
  rule.callback = run.plan.string("no_such_function");
  run.plan.add(rule, {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.err, HasSubstr("no_such_function"));
}

TEST(Faults, AThirdPartyDestroysTheContextThatStaysCurrent) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_DESTROY_CONTEXT, 0), {"cuCtxSynchronize"});
  const outcome out = run.victim({"make-context", "sync", "ended"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("driver's cuCtxDestroy_v2"), 1);
  const run_trace trace = run.trace();
  EXPECT_THAT(trace.calls("cuCtxDestroy_v2"), IsEmpty()) << "it is no call of the application's";
  EXPECT_NE(trace.calls("cuCtxSynchronize").at(0).call().context_after, 0u);
}

TEST(Faults, AThirdPartyResetsThePrimaryContextOfTheCurrentDevice) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_RESET_PRIMARY, 0), {"cuCtxSynchronize"});
  EXPECT_EQ(run.victim({"retain", "sync", "ended"}).printed("driver's cuDevicePrimaryCtxReset_v2"), 1);
}

TEST(Faults, AContextThatCannotBeDestroyedEndsTheProcess) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_DESTROY_CONTEXT, 0), {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync"});
  EXPECT_EQ(out.status, 97);
  EXPECT_THAT(out.err, HasSubstr("no context is current"));
}

TEST(Faults, TheDeviceReallyFaultsAndTheDriverSaysSo) {
  for (const std::int32_t code : {700, 716, 719}) {
    shim_run run;
    run.plan.header.backend = CUFAULT_BACKEND_SIMULATED;
    run.plan.header.backend_path = run.plan.string(from_environment("SIMULATOR"));
    run.plan.add(plain_rule(CUFAULT_EFFECT_REAL_FAULT, code), {"cuCtxSynchronize", "cuCtxSynchronize_v2"});
    const outcome out = run.victim({"init", "retain-0", "allocate", "sync", "allocate"});
    EXPECT_EQ(out.status, 0) << out.err;
    EXPECT_EQ(out.printed("cuMemAlloc", 1), 0);
    EXPECT_EQ(out.printed("cuCtxSynchronize"), code);
    EXPECT_EQ(out.printed("cuMemAlloc", 2), code) << "the driver's own state";
    const trace_record call = run.trace().calls("cuCtxSynchronize").at(0);
    EXPECT_EQ(call.call().rule, 1u);
    EXPECT_EQ(call.call().result_real, code);
    EXPECT_FALSE(call.has(CUFAULT_CALL_INJECTED)) << "nothing is pretended";
  }
}

TEST(Faults, ADeviceThatCannotBeMadeToFaultEndsTheProcess) {
  shim_run run;
  run.plan.add(plain_rule(CUFAULT_EFFECT_REAL_FAULT, 700), {"cuCtxSynchronize"});
  const outcome out = run.victim({"init", "sync"});
  EXPECT_EQ(out.status, 97) << "the stand-in has no device";
  EXPECT_THAT(out.err, HasSubstr("cuCtxSynchronize answers 0 instead of 700"));
}

TEST(LookUps, HandOutTheShimsOwnEntryOfTheSameSymbol) {
  shim_run run;
  const outcome out = run.victim({"init", "look-up"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("is cuStreamDestroy_v2", 1), 1);
  EXPECT_EQ(out.printed("is cuStreamDestroy_v2", 2), 1);
  EXPECT_EQ(out.printed("null status"), 0);
  EXPECT_EQ(out.printed("is cuGetProcAddress"), 1) << "the four-argument one, asked for at 11030";
  EXPECT_EQ(out.printed("is cuGetProcAddress_v2"), 1) << "the five-argument one, asked for at 12000";
  EXPECT_EQ(out.printed("unknown"), 0);
  EXPECT_EQ(out.printed("is null"), 1);
  EXPECT_EQ(out.printed("status", 2), 1);
  EXPECT_EQ(out.printed("unknown, old"), 500);
  const std::vector<trace_record> lookups = run.trace().of_type(CUFAULT_RECORD_LOOKUP);
  EXPECT_EQ(lookups.back().text(), "cuNoSuchFunction");
  EXPECT_EQ(lookups.front().raw.body.text.kind, unsigned{CUFAULT_LOOKUP_REPLACED});
  EXPECT_EQ(lookups.front().raw.body.text.value, 13000u);
}

TEST(LookUps, OfPrivateTablesPassThroughAndAreNoted) {
  shim_run run;
  const outcome out = run.victim({"init", "export-table"});
  EXPECT_EQ(out.printed("cuGetExportTable"), 0);
  const auto notes = run.trace().notes(CUFAULT_NOTE_EXPORT_TABLE);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].text(), "00112233445566778899aabbccddeeff");
}

TEST(LookUps, OfAFunctionThatTheDriverLacksAnswerNotFoundWhenCalled) {
  shim_run run;
  EXPECT_EQ(run.victim({"init", "absent"}).printed("cuEGLApiInit"), 500);
}

TEST(Forked, AChildHasCountsAndFilesOfItsOwn) {
  shim_run run;
  run.plan.add(nth(2), {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync", "fork", "sync"});
  EXPECT_EQ(out.printed("child"), 0) << "the child's first call, not the second";
  EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 700);
  const run_trace trace = run.trace();
  ASSERT_THAT(trace.processes, SizeIs(2));
  std::uint32_t parent = 0;
  for (const auto &[pid, process] : trace.processes) {
    if (process.header.forked == 0) parent = pid;
  }
  for (const auto &[pid, process] : trace.processes) {
    if (pid != parent) {
      EXPECT_EQ(process.header.parent_pid, parent);
    }
  }
  for (const trace_record &each : trace.records) {
    EXPECT_EQ(each.raw.state, CUFAULT_RECORD_COMPLETE);
  }
  EXPECT_THAT(trace.notes(CUFAULT_NOTE_EXIT), SizeIs(2));
}

TEST(Forked, AChildThatMakesNoDriverCallWritesNothing) {
  shim_run run;
  EXPECT_EQ(run.victim({"sync", "fork-idle"}).status, 0);
  EXPECT_THAT(run.trace().processes, SizeIs(1));
  EXPECT_THAT(run.trace().notes(CUFAULT_NOTE_EXIT), SizeIs(1));
}

TEST(Forked, InsideACallbackTheChildFinishesTheParentsCallUnrecorded) {
  shim_run run;
  const outcome out = run.victim({"init", "fork-inside"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("child status"), 0);
  const run_trace trace = run.trace();
  EXPECT_THAT(trace.calls("cuStreamSynchronize"), SizeIs(1));
  EXPECT_EQ(trace.calls("cuStreamSynchronize")[0].raw.state, CUFAULT_RECORD_COMPLETE);
  EXPECT_THAT(trace.calls("cuStreamQuery"), SizeIs(1));
}

TEST(Started, ByVforkAndBySpawnProgramsAreReachedToo) {
  for (const char *how : {"vfork", "posix-spawn"}) {
    shim_run run;
    run.plan.add(nth(1), {"cuCtxSynchronize"});
    const outcome out = run.victim({"sync", how});
    EXPECT_EQ(out.printed("cuCtxSynchronize"), 700);
    EXPECT_EQ(out.printed("child status"), 0);
    EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 700) << "the child counts for itself";
    EXPECT_THAT(run.trace().processes, SizeIs(2));
  }
}

TEST(Started, ByExecTheNextProgramOfTheProcessIsReachedToo) {
  shim_run run;
  run.plan.add(nth(2), {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync", "exec", "sync", "sync"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("cuCtxSynchronize", 3), 700);
  const run_trace trace = run.trace();
  EXPECT_THAT(trace.processes, SizeIs(1));
  EXPECT_THAT(trace.calls("cuCtxSynchronize"), SizeIs(3));
}

TEST(Started, AProgramThatClearsItsEnvironmentKeepsItsPlan) {
  shim_run run;
  run.plan.add(nth(1), {"cuCtxSynchronize"});
  EXPECT_EQ(run.victim({"clear-environment", "sync"}).printed("cuCtxSynchronize"), 700);
}

TEST(Calls, FromTheLastDestructorOfAThreadAndFromExitHandlersAreRecorded) {
  shim_run run;
  const outcome out = run.victim({"late"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("thread destructor"), 0);
  EXPECT_EQ(out.printed("exit handler"), 0);
  EXPECT_THAT(run.trace().calls("cuCtxSynchronize"), SizeIs(2));
}

TEST(Calls, InsideACallbackAreMarkedNested) {
  shim_run run;
  run.plan.add(nth(1), {"cuStreamQuery"});
  const outcome out = run.victim({"call-back"});
  EXPECT_EQ(out.printed("nested"), 0) << "a rule that does not ask for nested calls leaves it alone";
  const run_trace trace = run.trace();
  EXPECT_TRUE(trace.calls("cuStreamQuery").at(0).has(CUFAULT_CALL_NESTED));
  EXPECT_FALSE(trace.calls("cuStreamSynchronize").at(0).has(CUFAULT_CALL_NESTED));
}

TEST(Calls, OnAThreadThatTheDriverStartedAreMarkedNested) {
  shim_run run;
  run.plan.add(nth(1), {"cuStreamQuery"});
  const outcome out = run.victim({"init", "host-function"});
  EXPECT_EQ(out.printed("on the driver's thread"), 0);
  const run_trace trace = run.trace();
  EXPECT_TRUE(trace.calls("cuStreamQuery").at(0).has(CUFAULT_CALL_NESTED));
  EXPECT_FALSE(trace.calls("cuLaunchHostFunc").at(0).has(CUFAULT_CALL_NESTED));
}

TEST(Calls, LeaveErrnoAsTheDriverLeavesIt) {
  shim_run run;
  run.plan.header.trace_segment_records = 1;
  const outcome out = run.victim({"errno"});
  EXPECT_EQ(out.printed("errno after the first call"), 77);
  EXPECT_EQ(out.printed("errno after a switch"), 78);
  EXPECT_EQ(out.printed("errno that the driver set"), 5);
}

TEST(Calls, OfManyShortLivedThreadsAreCountedAndTheirMemoryIsUsedAgain) {
  shim_run run;
  run.plan.header.trace_segment_records = 8;
  const outcome out = run.victim({"many-threads"});
  EXPECT_EQ(out.printed("calls"), 500);
  EXPECT_THAT(run.trace().calls("cuCtxSynchronize"), SizeIs(500));
}

TEST(Control, OpensStepsNamesHandlesAndCounts) {
  shim_run run;
  const std::uint32_t step = run.plan.step("make");
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_FAIL, 201);
  rule.handle_name = run.plan.handle("s", api::kind_index("stream") + 1, step);
  run.plan.add(rule, {"cuStreamDestroy_v2"});
  const outcome out = run.victim({"init", "steps"});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.printed("version"), 1);
  EXPECT_EQ(out.printed("active"), 0);
  EXPECT_EQ(out.printed("end without begin"), 4);
  EXPECT_EQ(out.printed("begin"), 0);
  EXPECT_EQ(out.printed("begin twice"), 3);
  EXPECT_EQ(out.printed("name"), 0);
  EXPECT_EQ(out.printed("name of no kind"), 2);
  EXPECT_EQ(out.printed("cuStreamDestroy"), 201);
  EXPECT_EQ(out.printed("fired"), 1);
  EXPECT_EQ(out.printed("matched"), 1);
  EXPECT_EQ(out.printed("fired, unknown"), 0);
  EXPECT_EQ(out.printed("arm unknown"), 2);
  EXPECT_EQ(out.printed("calls"), 3);
  const run_trace trace = run.trace();
  const auto begins = trace.of_type(CUFAULT_RECORD_STEP_BEGIN);
  ASSERT_THAT(begins, SizeIs(2));
  EXPECT_EQ(begins[0].text(), "make");
  EXPECT_EQ(begins[0].raw.body.text.value, 1u);
  EXPECT_EQ(begins[1].text(), "of its own");
  EXPECT_EQ(begins[1].raw.body.text.value, 2u);
  EXPECT_THAT(trace.of_type(CUFAULT_RECORD_STEP_END), SizeIs(2));
  const auto names = trace.of_type(CUFAULT_RECORD_HANDLE_NAME);
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_EQ(names[0].text(), "s") << "bound by the step";
  EXPECT_EQ(names[1].raw.body.text.value, 0x77u);
  EXPECT_EQ(trace.calls("cuStreamCreate").at(0).raw.step, 1u);
  EXPECT_EQ(trace.calls("cuStreamDestroy_v2").at(0).raw.step, 0u);
  EXPECT_EQ(trace.notes(CUFAULT_NOTE_TEXT).at(0).text(), "hello");
  const auto counts = trace.notes(CUFAULT_NOTE_RULE_COUNT);
  ASSERT_THAT(counts, SizeIs(1));
  EXPECT_EQ(counts[0].raw.body.text.other, 1u);
}

/* The rule as an outsider sees it. */
cufault_control_rule outside(const shim_run &run, const std::string &pid, std::size_t rule) {
  const std::string bytes = file_bytes(run.folder() / ("control." + pid));
  const auto head = read_at<cufault_control_page>(bytes, 0);
  return read_at<cufault_control_rule>(bytes, head.header_size + rule * head.rule_size);
}

TEST(ControlPage, CountsOutlastAProcessThatWasKilled) {
  shim_run run;
  run.plan.add(nth(2), {"cuCtxSynchronize"}, "second");
  EXPECT_EQ(run.victim({"sync", "sync", "sync", "die"}).status, 128 + SIGKILL);
  const std::string pid = std::to_string(run.trace().processes.begin()->first);
  const cufault_control_rule rule = outside(run, pid, 0);
  EXPECT_STREQ(rule.label, "second");
  EXPECT_EQ(rule.matched, 4u);
  EXPECT_EQ(rule.fired, 1u);
  const auto permissions = std::filesystem::status(run.folder() / ("control." + pid)).permissions();
  EXPECT_EQ(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(ControlPage, DisarmsARuleFromOutside) {
  shim_run run;
  cufault_plan_rule rule = plain_rule();
  rule.limit = 0;
  run.plan.add(rule, {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync", "disarm-by-file", "sync"});
  EXPECT_EQ(out.printed("cuCtxSynchronize", 1), 700);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 0);
}

TEST(ControlPage, OfAForkedChildIsItsOwn) {
  shim_run run;
  run.plan.add(nth(2), {"cuCtxSynchronize"});
  EXPECT_EQ(run.victim({"sync", "fork", "sync"}).status, 0);
  std::vector<std::uint64_t> matched;
  for (const auto &[pid, process] : run.trace().processes) matched.push_back(outside(run, std::to_string(pid), 0).matched);
  EXPECT_THAT(matched, ::testing::UnorderedElementsAre(1u, 2u));
}

TEST(Control, DisarmsAndArmsARule) {
  shim_run run;
  run.plan.add(nth(1), {"cuCtxSynchronize"});
  const outcome out = run.victim({"init", "disarm"});
  EXPECT_EQ(out.printed("cuCtxSynchronize", 1), 0);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 700);
}

TEST(Trace, IsReadableUpToTheCallInWhichTheProcessWasKilled) {
  shim_run run;
  EXPECT_EQ(run.victim({"sync", "die-inside"}).status, 128 + SIGKILL);
  const run_trace trace = run.trace();
  EXPECT_EQ(trace.records.back().symbol, "cuStreamSynchronize");
  EXPECT_EQ(trace.records.back().raw.state, CUFAULT_RECORD_OPEN);
  EXPECT_EQ(trace.records.back().call().result_given, CUFAULT_NOT_ANSWERED);
  EXPECT_THAT(trace.notes(CUFAULT_NOTE_EXIT), IsEmpty());
}

TEST(Trace, HoldsEachStackOnceAndWhatItsAddressesNeed) {
  shim_run run;
  run.plan.header.flags |= CUFAULT_PLAN_TRACE_STACKS;
  const outcome out = run.victim({"sync", "sync", "make"});
  EXPECT_EQ(out.status, 0) << out.err;
  const run_trace trace = run.trace();
  const auto syncs = trace.calls("cuCtxSynchronize");
  ASSERT_THAT(syncs, SizeIs(2));
  EXPECT_NE(syncs[0].call().stack, 0u);
  EXPECT_EQ(syncs[0].call().stack, syncs[1].call().stack) << "the same line of the program";
  EXPECT_NE(trace.calls("cuStreamCreate").at(0).call().stack, syncs[0].call().stack);

  const std::string pid = std::to_string(trace.processes.begin()->first);
  const std::string stacks = file_bytes(run.folder() / ("stacks." + pid));
  const auto first = read_at<std::uint64_t>(stacks, sizeof(cufault_stacks_header) + sizeof(cufault_stack_entry));
  EXPECT_EQ(read_at<cufault_stack_entry>(stacks, sizeof(cufault_stacks_header)).id, 1u);
  std::ifstream maps(run.folder() / ("maps." + pid));
  std::string line, module;
  while (std::getline(maps, line)) {
    std::uint64_t low = 0, high = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &low, &high) == 2 && first >= low && first < high) module = line;
  }
  EXPECT_THAT(module, HasSubstr("/victim")) << "the innermost address is the program's own";
}

TEST(Trace, OfAForkedChildHasStacksOfItsOwn) {
  shim_run run;
  run.plan.header.flags |= CUFAULT_PLAN_TRACE_STACKS;
  EXPECT_EQ(run.victim({"sync", "fork"}).status, 0);
  for (const auto &[pid, process] : run.trace().processes) {
    const auto head = read_at<cufault_stacks_header>(file_bytes(run.folder() / ("stacks." + std::to_string(pid))), 0);
    EXPECT_GT(head.used, 0u);
    EXPECT_EQ(head.lost, 0u);
  }
}

TEST(Faults, EachStackOnceIsEachLineOfTheProgramOnce) {
  shim_run run;
  cufault_plan_rule rule = plain_rule();
  rule.unique_stack = 1;
  rule.limit = 0;
  run.plan.add(rule, {"cuCtxSynchronize"});
  const outcome out = run.victim({"sync", "sync", "sync", "fork"});
  EXPECT_EQ(out.printed("cuCtxSynchronize", 1), 700);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 2), 0);
  EXPECT_EQ(out.printed("cuCtxSynchronize", 3), 0);
  EXPECT_EQ(out.printed("child"), 700) << "another line, and a process of its own";
}

TEST(Trace, SaysWhichDriverStoodBehindTheShim) {
  shim_run run;
  (void)run.victim({"init"});
  const traced_process process = run.trace().processes.begin()->second;
  EXPECT_EQ(process.backend_path, from_environment("STANDIN"));
  EXPECT_EQ(process.header.driver_version, 13050u);
  EXPECT_EQ(process.header.backend, unsigned{CUFAULT_BACKEND_PATH});
  EXPECT_EQ(process.header.uncovered_count, 0u);
  EXPECT_THAT(process.program, HasSubstr("victim"));
}

}  // namespace
}  // namespace cufault::tests

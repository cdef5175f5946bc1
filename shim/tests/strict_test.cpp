// SPDX-License-Identifier: Apache-2.0
// Between a call's entry and its forwarding there is no allocation, no lock and no system call: shown by a program that dies of one.
#include <gmock/gmock.h>

#include <csignal>

#include "program.h"

namespace cufault::tests {
namespace {

std::vector<std::string> strict(const std::string &calls, const std::string &sin = "") { return {from_environment("STRICT"), calls, sin}; }

outcome run_idle(const std::vector<std::string> &command) {
  program under;
  under.variables["LD_PRELOAD"] = preload_of_the_shim();
  under.variables["LD_LIBRARY_PATH"] = from_environment("DRIVER_FOLDER");
  return under.run(command);
}

TEST(Idle, CallsNeitherAllocateNorLockNorEnterTheKernel) {
  const outcome out = run_idle(strict("1000"));
  EXPECT_EQ(out.status, 0) << out.err;
}

TEST(Armed, CallsThatNoRuleMatchesDoNotEither) {
  shim_run run;
  run.plan.header.flags = 0;
  run.plan.add(plain_rule(), {"cuStreamDestroy_v2"});
  cufault_plan_rule late = plain_rule();
  late.from = 1'000'000;
  run.plan.add(late, {"cuCtxSynchronize"});
  const outcome out = run.run(strict("1000"));
  EXPECT_EQ(out.status, 0) << out.err;
}

TEST(Traced, CallsDoNotEitherWithinASegment) {
  shim_run run;
  const outcome out = run.run(strict("1000"));
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(run.trace().calls("cuCtxSynchronize"), ::testing::SizeIs(1003));
}

TEST(Traced, WithStacksCallsFromAPlaceSeenBeforeDoNotEither) {
  shim_run run;
  run.plan.header.flags |= CUFAULT_PLAN_TRACE_STACKS;
  const outcome out = run.run(strict("1000"));
  EXPECT_EQ(out.status, 0) << out.err;
}

TEST(TheTrap, CatchesEachOfTheThree) {
  EXPECT_EQ(run_idle(strict("1", "allocate")).status, 70);
  EXPECT_EQ(run_idle(strict("1", "lock")).status, 70);
  EXPECT_EQ(run_idle(strict("1", "system-call")).status, 128 + SIGSYS);
}

}  // namespace
}  // namespace cufault::tests

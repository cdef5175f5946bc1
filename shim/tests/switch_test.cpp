// SPDX-License-Identifier: Apache-2.0
// Which context switch enters and which restores, by every way that libraries switch.
#include <gtest/gtest.h>

#include "cufault/api_table.h"
#include "faults/engine.h"
#include "plan_builder.h"

namespace cufault::tests {
namespace {

using faults::switch_role;

constexpr std::uint64_t base = 0xb0;
constexpr std::uint64_t other = 0xa0;

class Switches : public ::testing::Test {
 protected:
  Switches() {
    process::message why;
    EXPECT_TRUE(plan_.read(bytes_.data(), bytes_.size(), why));
    EXPECT_TRUE(engine_.start(plan_, nullptr));
  }
  switch_role call(const char *symbol, std::uint64_t context, bool succeeds = true) { return call_on(thread_, symbol, context, succeeds); }
  switch_role call_on(faults::thread_state &thread, const char *symbol, std::uint64_t context, bool succeeds = true) {
    std::uint64_t out = context;
    const std::uint64_t args[12] = {std::string_view(symbol).starts_with("cuCtxCreate") ? reinterpret_cast<std::uint64_t>(&out) : context};
    const faults::call_facts facts{api::symbol_index(symbol), args, false, nullptr, 0};
    const switch_role role = engine_.decide(facts, thread).role;
    if (succeeds) engine_.observe(facts, thread, [](std::uint32_t, api::handle_kind, std::uint64_t) {});
    return role;
  }
  void step() { engine_.switch_step(++steps_, thread_); }

  std::string bytes_ = plan_builder().bytes();
  faults::plan plan_;
  faults::engine engine_;
  faults::thread_state thread_{};
  std::uint32_t steps_ = 0;
};

TEST_F(Switches, SettingAnotherEntersAndSettingItBackRestores) {
  call("cuCtxSetCurrent", base);
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", other), switch_role::enter);
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::restore);
}

TEST_F(Switches, SettingWhatIsCurrentIsNeither) {
  call("cuCtxSetCurrent", base);
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::none);
}

TEST_F(Switches, AFailedEnterIsAnAttemptAndWhatFollowsRestores) {
  call("cuCtxSetCurrent", base);
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", other, false), switch_role::enter);
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::restore);
}

TEST_F(Switches, AFailedRestoreMayBeTriedAgainUntilItSucceeds) {
  call("cuCtxSetCurrent", base);
  step();
  call("cuCtxSetCurrent", other);
  EXPECT_EQ(call("cuCtxSetCurrent", base, false), switch_role::restore);
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::restore);
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::none);
}

TEST_F(Switches, PushEntersAndPopRestores) {
  call("cuCtxSetCurrent", base);
  step();
  EXPECT_EQ(call("cuCtxPushCurrent_v2", other), switch_role::enter);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", 0), switch_role::restore);
}

TEST_F(Switches, PopOfTheStepsOwnContextEnters) {
  call("cuCtxPushCurrent_v2", other);
  call("cuCtxPushCurrent_v2", base);
  step();
  EXPECT_EQ(call("cuCtxPopCurrent_v2", 0), switch_role::enter);
  EXPECT_EQ(call("cuCtxPushCurrent_v2", base), switch_role::restore);
}

TEST_F(Switches, CreatingAContextEnters) {
  step();
  EXPECT_EQ(call("cuCtxCreate_v2", other), switch_role::enter);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", 0), switch_role::restore);
}

TEST_F(Switches, FromNoContextSettingNullRestores) {
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", other), switch_role::enter);
  EXPECT_EQ(call("cuCtxSetCurrent", 0), switch_role::restore);
}

TEST_F(Switches, SettingNullTakesTheTopOffTheStack) {
  call("cuCtxPushCurrent_v2", other);
  call("cuCtxPushCurrent_v2", base);
  EXPECT_EQ(thread_.contexts.current(), base);
  call("cuCtxSetCurrent", 0);
  EXPECT_EQ(thread_.contexts.current(), other);
}

TEST_F(Switches, DestroyingTheCurrentContextMakesTheOneBelowCurrent) {
  call("cuCtxPushCurrent_v2", base);
  call("cuCtxCreate_v2", other);
  call("cuCtxDestroy_v2", other);
  EXPECT_EQ(thread_.contexts.current(), base);
  call("cuCtxDestroy_v2", other);
  EXPECT_EQ(thread_.contexts.current(), base) << "destroying another changes nothing here";
}

TEST_F(Switches, EachStepHasABaseOfItsOwn) {
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::enter);
  step();
  EXPECT_EQ(call("cuCtxSetCurrent", base), switch_role::none);
  EXPECT_EQ(call("cuCtxSetCurrent", other), switch_role::enter);
}

TEST_F(Switches, AnotherThreadsBaseIsWhatItHasAtItsFirstSwitch) {
  faults::thread_state worker{};
  call_on(worker, "cuCtxSetCurrent", other);
  call("cuCtxSetCurrent", base);
  step();
  EXPECT_EQ(call_on(worker, "cuCtxSetCurrent", base), switch_role::enter);
  EXPECT_EQ(call_on(worker, "cuCtxSetCurrent", other), switch_role::restore);
}

TEST_F(Switches, AStackDeeperThanTheMirrorForgetsItsBottom) {
  for (std::uint64_t i = 1; i <= 40; ++i) call("cuCtxPushCurrent_v2", i);
  for (int i = 0; i < 20; ++i) call("cuCtxPopCurrent_v2", 0);
  EXPECT_EQ(thread_.contexts.current(), 20u);
}

}  // namespace
}  // namespace cufault::tests

// SPDX-License-Identifier: Apache-2.0
// Which rule fires at which call: triggers one by one, and how they go together.
#include "faults/engine.h"

#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include "cufault/api_table.h"
#include "plan_builder.h"

namespace cufault::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int32_t illegal_address = 700;
constexpr std::int32_t invalid_context = 201;

/* An engine over a plan, and a driver that always succeeds. */
class run {
 public:
  explicit run(const plan_builder &plan) : bytes_(plan.bytes()) {
    process::message why;
    if (!plan_.read(bytes_.data(), bytes_.size(), why)) throw std::runtime_error(why.c_str());
    counters.resize(plan.rules.size());
    if (!engine.start(plan_, counters.data())) throw std::bad_alloc();
  }

  faults::decision call(const char *symbol, std::vector<std::uint64_t> args = {}, bool nested = false) {
    return call_on(thread, symbol, std::move(args), nested);
  }
  faults::decision call_on(faults::thread_state &by, const char *symbol, std::vector<std::uint64_t> args = {}, bool nested = false) {
    args.resize(12);
    const faults::call_facts facts{api::symbol_index(symbol), args.data(), nested, caller, stack};
    const faults::decision decided = engine.decide(facts, by);
    if (decided.forwarded) engine.observe(facts, by, [&](std::uint32_t name, api::handle_kind, std::uint64_t) { bound.push_back(name); });
    return decided;
  }
  /* The numbers of the calls, from 1, that are answered by a fault. */
  std::vector<int> failing(const char *symbol, int calls) {
    std::vector<int> found;
    for (int i = 1; i <= calls; ++i) {
      if (call(symbol).answered) found.push_back(i);
    }
    return found;
  }
  void make(const char *symbol, std::uint64_t handle) { call(symbol, {reinterpret_cast<std::uint64_t>(&handle)}); }

  std::vector<cufault_control_rule> counters;
  faults::engine engine;
  faults::thread_state thread{};
  const void *caller = nullptr;
  std::uint64_t stack = 0;
  std::vector<std::uint32_t> bound;

 private:
  std::string bytes_;
  faults::plan plan_;
};

std::uint32_t kind(const char *name) { return api::kind_index(name) + 1; }

TEST(Ordinals, NthIsTheNthMatchingCallAndNoOther) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.from = 3;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  run.call("cuInit");
  EXPECT_THAT(run.failing("cuCtxSynchronize", 6), ElementsAre(3));
}

TEST(Ordinals, FromEveryAndLimitGoTogether) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.from = 2;
  rule.every = 3;
  rule.limit = 2;
  plan.add(rule, {"cuCtxSynchronize"});
  EXPECT_THAT(run(plan).failing("cuCtxSynchronize", 20), ElementsAre(2, 5));
}

TEST(Ordinals, WithoutALimitEachCallFromTheFirstOnFires) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.from = 4;
  rule.limit = 0;
  plan.add(rule, {"cuCtxSynchronize"});
  EXPECT_THAT(run(plan).failing("cuCtxSynchronize", 7), ElementsAre(4, 5, 6, 7));
}

TEST(Ordinals, OfSeveralSymbolsAreCountedTogether) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.from = 2;
  plan.add(rule, {"cuStreamDestroy", "cuStreamDestroy_v2"});
  run run(plan);
  EXPECT_FALSE(run.call("cuStreamDestroy", {1}).answered);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {1}).answered);
}

TEST(Ordinals, UnderThreadsExactlyOneCallIsTheThousandth) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.from = 1000;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  std::atomic<int> fired{0};
  std::atomic<std::uint64_t> ordinal{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      faults::thread_state own{};
      for (int k = 0; k < 50; ++k) {
        const faults::decision decided = run.call_on(own, "cuCtxSynchronize");
        if (decided.answered) ++fired, ordinal = decided.ordinal;
      }
    });
  }
  for (std::thread &each : threads) each.join();
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(ordinal, 1000u);
  EXPECT_EQ(run.engine.matched(0), 3200u);
}

TEST(Probability, OfOneHalfFiresAboutHalfTheTimeAndTheSameWayEachTime) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.probability = 0.5;
  rule.limit = 0;
  rule.seed = 7;
  plan.add(rule, {"cuCtxSynchronize"});
  const std::vector<int> once = run(plan).failing("cuCtxSynchronize", 1000);
  EXPECT_GT(once.size(), 400u);
  EXPECT_LT(once.size(), 600u);
  EXPECT_EQ(once, run(plan).failing("cuCtxSynchronize", 1000));
  plan.rules[0].seed = 8;
  EXPECT_NE(once, run(plan).failing("cuCtxSynchronize", 1000));
}

TEST(Probability, LimitCountsWhatWasDrawn) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.probability = 0.25;
  rule.limit = 3;
  plan.add(rule, {"cuCtxSynchronize"});
  EXPECT_EQ(run(plan).failing("cuCtxSynchronize", 1000).size(), 3u);
}

TEST(SeveralRules, TheFirstThatFiresWinsAndTheOthersStillCount) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_FAIL, illegal_address), {"cuCtxSynchronize"});
  cufault_plan_rule second = plain_rule(CUFAULT_EFFECT_FAIL, invalid_context);
  second.from = 2;
  plan.add(second, {"cuCtxSynchronize"});
  run run(plan);
  EXPECT_EQ(run.call("cuCtxSynchronize").code, illegal_address);
  EXPECT_EQ(run.call("cuCtxSynchronize").code, invalid_context);
  EXPECT_EQ(run.engine.matched(0), 2u);
  EXPECT_EQ(run.engine.matched(1), 2u);
}

TEST(AfterRule, ACascadeWaitsForTheFirstFault) {
  plan_builder plan;
  plan.add(plain_rule(), {"cuStreamCreate"});
  cufault_plan_rule second = plain_rule();
  second.after_rule = 1;
  plan.add(second, {"cuStreamDestroy_v2"});
  run run(plan);
  EXPECT_FALSE(run.call("cuStreamDestroy_v2", {1}).answered);
  EXPECT_TRUE(run.call("cuStreamCreate").answered);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {1}).answered);
  EXPECT_EQ(run.engine.matched(1), 1u);
}

TEST(Nested, CallsAreNeitherMatchedNorCountedUnlessAskedFor) {
  plan_builder plan;
  plan.add(plain_rule(), {"cuCtxSynchronize"}, "no");
  cufault_plan_rule also = plain_rule(CUFAULT_EFFECT_FAIL, invalid_context);
  also.nested = CUFAULT_NESTED_ALSO;
  also.from = 2;
  plan.add(also, {"cuCtxSynchronize"}, "also");
  cufault_plan_rule only = plain_rule();
  only.nested = CUFAULT_NESTED_ONLY;
  plan.add(only, {"cuStreamQuery"}, "only");
  run run(plan);
  EXPECT_FALSE(run.call("cuCtxSynchronize", {}, true).answered);
  EXPECT_EQ(run.engine.matched(0), 0u);
  EXPECT_EQ(run.call("cuCtxSynchronize", {}, true).code, invalid_context);
  EXPECT_FALSE(run.call("cuStreamQuery", {1}).answered);
  EXPECT_TRUE(run.call("cuStreamQuery", {1}, true).answered);
}

TEST(Thread, MainAndOrdinalSelectTheThread) {
  plan_builder plan;
  cufault_plan_rule main = plain_rule();
  main.thread = CUFAULT_THREAD_MAIN;
  plan.add(main, {"cuCtxSynchronize"});
  cufault_plan_rule second = plain_rule();
  second.thread = CUFAULT_THREAD_ORDINAL;
  second.thread_ordinal = 2;
  plan.add(second, {"cuStreamQuery"});
  run run(plan);
  faults::thread_state first{}, other{};
  first.main = true;
  first.ordinal = 1;
  other.ordinal = 2;
  EXPECT_FALSE(run.call_on(other, "cuCtxSynchronize").answered);
  EXPECT_TRUE(run.call_on(first, "cuCtxSynchronize").answered);
  EXPECT_FALSE(run.call_on(first, "cuStreamQuery", {1}).answered);
  EXPECT_TRUE(run.call_on(other, "cuStreamQuery", {1}).answered);
}

TEST(Thread, ANameSelectsTheThreadThatBearsIt) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.thread = CUFAULT_THREAD_NAME;
  rule.thread_name = plan.string("worker");
  rule.limit = 0;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  EXPECT_FALSE(run.call("cuCtxSynchronize").answered);
  std::thread([&] {
    pthread_setname_np(pthread_self(), "worker");
    faults::thread_state own{};
    EXPECT_TRUE(run.call_on(own, "cuCtxSynchronize").answered);
  }).join();
}

TEST(Argument, IsComparedAsAskedFor) {
  struct {
    std::uint32_t how;
    std::vector<int> hit;
  } const cases[] = {{CUFAULT_COMPARE_EQUAL, {6}},
                     {CUFAULT_COMPARE_NOT_EQUAL, {2, 5, 7, 14}},
                     {CUFAULT_COMPARE_LESS, {2, 5}},
                     {CUFAULT_COMPARE_GREATER, {7, 14}},
                     {CUFAULT_COMPARE_HAS_BITS, {6, 7, 14}}};
  for (const auto &each : cases) {
    plan_builder plan;
    cufault_plan_rule rule = plain_rule();
    rule.compare = each.how;
    rule.argument = 1;
    rule.value = 6;
    rule.limit = 0;
    plan.add(rule, {"cuMemAlloc_v2"});
    run run(plan);
    std::vector<int> hit;
    for (const int size : {2, 5, 6, 7, 14}) {
      if (run.call("cuMemAlloc_v2", {0, static_cast<std::uint64_t>(size)}).answered) hit.push_back(size);
    }
    EXPECT_EQ(hit, each.hit) << each.how;
  }
}

TEST(Step, OnlyItsOwnCallsAreMatchedAndCounted) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.step = plan.step("use");
  rule.from = 2;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  EXPECT_THAT(run.failing("cuCtxSynchronize", 3), IsEmpty());
  run.engine.switch_step(1, run.thread);
  EXPECT_THAT(run.failing("cuCtxSynchronize", 3), ElementsAre(2));
  run.engine.switch_step(0, run.thread);
  EXPECT_THAT(run.failing("cuCtxSynchronize", 3), IsEmpty());
  EXPECT_EQ(run.engine.matched(0), 3u);
}

TEST(Handle, ByOrdinalIsTheNthThatWasMade) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.handle_kind = kind("stream");
  rule.handle_ordinal = 2;
  plan.add(rule, {"cuStreamDestroy_v2"});
  run run(plan);
  EXPECT_FALSE(run.call("cuStreamDestroy_v2", {0}).answered) << "nothing is made yet";
  run.make("cuStreamCreate", 0x10);
  run.make("cuStreamCreateWithPriority", 0x20);
  run.make("cuEventCreate", 0x30);
  EXPECT_FALSE(run.call("cuStreamDestroy_v2", {0x10}).answered);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {0x20}).answered);
}

TEST(Handle, ThatWasDestroyedIsNotMistakenForOneOfTheSameNumber) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.handle_kind = kind("stream");
  rule.handle_ordinal = 1;
  plan.add(rule, {"cuStreamSynchronize"});
  run run(plan);
  run.make("cuStreamCreate", 0x10);
  run.call("cuStreamDestroy_v2", {0x10});
  run.make("cuStreamCreate", 0x10);
  EXPECT_FALSE(run.call("cuStreamSynchronize", {0x10}).answered);
}

TEST(Handle, WhoseDestroyFailedIsStillTheSame) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.handle_kind = kind("stream");
  rule.handle_ordinal = 1;
  rule.limit = 2;
  plan.add(rule, {"cuStreamDestroy_v2"});
  run run(plan);
  run.make("cuStreamCreate", 0x10);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {0x10}).answered);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {0x10}).answered);
}

TEST(Handle, ByNameIsTheLastOfItsKindThatTheStepMade) {
  plan_builder plan;
  const std::uint32_t step = plan.step("make");
  cufault_plan_rule rule = plain_rule();
  rule.handle_name = plan.handle("s", kind("stream"), step);
  rule.limit = 0;
  plan.add(rule, {"cuStreamDestroy_v2"});
  run run(plan);
  run.make("cuStreamCreate", 0x10);
  run.engine.switch_step(step, run.thread);
  run.make("cuStreamCreate", 0x20);
  run.make("cuEventCreate", 0x25);
  run.make("cuStreamCreate", 0x30);
  run.engine.switch_step(0, run.thread);
  run.make("cuStreamCreate", 0x40);
  EXPECT_THAT(run.bound, ElementsAre(0, 0));
  EXPECT_FALSE(run.call("cuStreamDestroy_v2", {0x20}).answered);
  EXPECT_FALSE(run.call("cuStreamDestroy_v2", {0x40}).answered);
  EXPECT_TRUE(run.call("cuStreamDestroy_v2", {0x30}).answered);
}

TEST(Handle, ByNameMayBeBoundByTheProgram) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.handle_name = plan.handle("s", kind("stream"), 0);
  plan.add(rule, {"cuStreamSynchronize"});
  run run(plan);
  EXPECT_FALSE(run.engine.objects().bind(api::handle_kind::event, 0x10, "s"));
  EXPECT_TRUE(run.engine.objects().bind(api::handle_kind::stream, 0x10, "s"));
  EXPECT_FALSE(run.call("cuStreamSynchronize", {0x20}).answered);
  EXPECT_TRUE(run.call("cuStreamSynchronize", {0x10}).answered);
}

TEST(Handle, OfAKindMeansAnyThatIsNotNull) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.handle_kind = kind("stream");
  plan.add(rule, {"cuStreamSynchronize"});
  run run(plan);
  EXPECT_FALSE(run.call("cuStreamSynchronize", {0}).answered);
  EXPECT_TRUE(run.call("cuStreamSynchronize", {5}).answered);
}

TEST(Context, ByOrdinalAndByDeviceIsTheCurrentOne) {
  plan_builder plan;
  cufault_plan_rule second = plain_rule();
  second.context_ordinal = 2;
  second.limit = 0;
  plan.add(second, {"cuCtxSynchronize"});
  cufault_plan_rule device = plain_rule();
  device.device_plus_1 = 2;
  device.limit = 0;
  plan.add(device, {"cuStreamQuery"});
  run run(plan);
  const auto retain = [&](std::uint64_t context, std::uint64_t on) {
    run.call("cuDevicePrimaryCtxRetain", {reinterpret_cast<std::uint64_t>(&context), on});
  };
  retain(0xa0, 0);
  retain(0xb0, 1);
  retain(0xa0, 0);
  run.call("cuCtxSetCurrent", {0xa0});
  EXPECT_FALSE(run.call("cuCtxSynchronize").answered);
  EXPECT_FALSE(run.call("cuStreamQuery", {1}).answered);
  run.call("cuCtxSetCurrent", {0xb0});
  EXPECT_TRUE(run.call("cuCtxSynchronize").answered);
  EXPECT_TRUE(run.call("cuStreamQuery", {1}).answered);
}

TEST(Module, IsThatOfTheCallersReturnAddress) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.module = plan.string("shim_*_test");
  rule.limit = 0;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  EXPECT_FALSE(run.call("cuCtxSynchronize").answered);
  run.caller = reinterpret_cast<const void *>(&kind);
  EXPECT_TRUE(run.call("cuCtxSynchronize").answered);
  run.caller = reinterpret_cast<const void *>(&std::abort);
  EXPECT_FALSE(run.call("cuCtxSynchronize").answered) << "libc";
}

TEST(UniqueStack, EachStackFiresOnce) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule();
  rule.unique_stack = 1;
  rule.limit = 0;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  EXPECT_TRUE(run.engine.needs_stack(api::symbol_index("cuCtxSynchronize")));
  EXPECT_FALSE(run.engine.needs_stack(api::symbol_index("cuInit")));
  std::vector<std::uint64_t> fired;
  // The second is on the first one's place in the table.
  for (const std::uint64_t each : {5u, 5u + (1u << 16), 5u, 5u + (1u << 16), 6u}) {
    run.stack = each;
    if (run.call("cuCtxSynchronize").answered) fired.push_back(each);
  }
  EXPECT_THAT(fired, ElementsAre(5u, 5u + (1u << 16), 6u));
  EXPECT_EQ(run.engine.matched(0), 3u);
}

TEST(Disarmed, ARuleNeitherFiresNorCounts) {
  plan_builder plan;
  plan.add(plain_rule(), {"cuCtxSynchronize"});
  run run(plan);
  run.engine.arm(0, false);
  EXPECT_THAT(run.failing("cuCtxSynchronize", 3), IsEmpty());
  run.engine.arm(0, true);
  EXPECT_THAT(run.failing("cuCtxSynchronize", 3), ElementsAre(1));
}

TEST(Effects, FailDoesNotForwardAndCallThenFailDoes) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_FAIL), {"cuCtxSynchronize"});
  plan.add(plain_rule(CUFAULT_EFFECT_CALL_THEN_FAIL), {"cuStreamQuery"});
  run run(plan);
  const faults::decision failed = run.call("cuCtxSynchronize");
  EXPECT_TRUE(failed.answered);
  EXPECT_FALSE(failed.forwarded);
  const faults::decision called = run.call("cuStreamQuery", {1});
  EXPECT_TRUE(called.answered);
  EXPECT_TRUE(called.forwarded);
}

TEST(Effects, StickyFailsThisCallAndLaterOnesAsRecorded) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_STICKY), {"cuCtxSetCurrent"});
  run run(plan);
  EXPECT_TRUE(run.call("cuCtxSetCurrent", {1}).answered);
  EXPECT_FALSE(run.call("cuCtxSetCurrent", {1}).answered) << "observed: it fails once and later ones succeed";
  const faults::decision later = run.call("cuStreamDestroy_v2", {1});
  EXPECT_TRUE(later.answered);
  EXPECT_TRUE(later.fault_state);
  EXPECT_FALSE(later.forwarded);
  EXPECT_EQ(later.rule, 0u);
  EXPECT_EQ(later.code, illegal_address);
  EXPECT_FALSE(run.call("cuGraphDestroy", {1}).answered);
  EXPECT_TRUE(run.call("cuLinkCreate_v2").unrecorded) << "nobody recorded what it answers";
}

TEST(Effects, StickyOfDocumentedScopeFailsEveryCallButTheNamesOfErrors) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_STICKY);
  rule.sticky_scope = CUFAULT_STICKY_DOCUMENTED;
  plan.add(rule, {"cuCtxSynchronize"});
  run run(plan);
  run.call("cuCtxSynchronize");
  EXPECT_EQ(run.call("cuCtxSetCurrent", {1}).code, illegal_address);
  EXPECT_EQ(run.call("cuGraphDestroy", {1}).code, illegal_address);
  EXPECT_FALSE(run.call("cuGetErrorName").answered);
}

TEST(Effects, AsyncSucceedsAndSurfacesAtTheNextAffectedCall) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_ASYNC), {"cuLaunchKernel"});
  run run(plan);
  const faults::decision launched = run.call("cuLaunchKernel");
  EXPECT_FALSE(launched.answered);
  EXPECT_TRUE(launched.forwarded);
  EXPECT_EQ(launched.rule, 1u);
  EXPECT_FALSE(run.call("cuCtxSetCurrent", {1}).answered);
  EXPECT_EQ(run.call("cuCtxSynchronize").code, illegal_address);
  EXPECT_EQ(run.call("cuCtxSynchronize").code, illegal_address);
}

TEST(Effects, DeinitializeAnswersFourToEverythingButTheNamesOfErrors) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_DEINITIALIZE, 0), {"cuStreamDestroy_v2"});
  run run(plan);
  EXPECT_EQ(run.call("cuStreamDestroy_v2", {1}).code, 4);
  EXPECT_EQ(run.call("cuCtxSetCurrent", {1}).code, 4);
  EXPECT_EQ(run.call("cuGraphDestroy", {1}).code, 4);
  EXPECT_FALSE(run.call("cuGetErrorString").answered);
}

TEST(Effects, ARuleStillFiresUnderAFaultState) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_STICKY), {"cuCtxSynchronize"});
  plan.add(plain_rule(CUFAULT_EFFECT_FAIL, invalid_context), {"cuStreamDestroy_v2"});
  run run(plan);
  run.call("cuCtxSynchronize");
  EXPECT_EQ(run.call("cuStreamDestroy_v2", {1}).code, invalid_context);
  EXPECT_EQ(run.call("cuStreamDestroy_v2", {1}).code, illegal_address);
}

TEST(Effects, TheFirstStickyFaultStaysAndShutdownComesOverIt) {
  plan_builder plan;
  plan.add(plain_rule(CUFAULT_EFFECT_STICKY, illegal_address), {"cuCtxSynchronize"});
  plan.add(plain_rule(CUFAULT_EFFECT_STICKY, 719), {"cuStreamSynchronize"});
  plan.add(plain_rule(CUFAULT_EFFECT_DEINITIALIZE, 4), {"cuInit"});
  run run(plan);
  run.call("cuCtxSynchronize");
  EXPECT_EQ(run.call("cuStreamSynchronize", {1}).code, 719);
  EXPECT_EQ(run.call("cuStreamSynchronize", {1}).code, illegal_address);
  run.call("cuInit");
  EXPECT_EQ(run.call("cuStreamSynchronize", {1}).code, 4);
}

TEST(Fork, AChildCountsFromZeroUnfaultedInTheSameStep) {
  plan_builder plan;
  const std::uint32_t step = plan.step("use");
  plan.add(plain_rule(CUFAULT_EFFECT_STICKY), {"cuCtxSynchronize"});
  run run(plan);
  run.engine.switch_step(step, run.thread);
  run.call("cuCtxSynchronize");
  std::vector<cufault_control_rule> of_the_child(1);
  run.engine.reset(of_the_child.data());
  EXPECT_EQ(run.engine.fired(0), 0u);
  EXPECT_FALSE(run.call("cuStreamQuery", {1}).answered);
  EXPECT_EQ(run.engine.open_step(), step);
  EXPECT_TRUE(run.call("cuCtxSynchronize").answered);
}

}  // namespace
}  // namespace cufault::tests

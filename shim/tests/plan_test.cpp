// SPDX-License-Identifier: Apache-2.0
// A plan is honoured to the letter or refused with a reason: every field is spoiled once.
#include "faults/plan.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "cufault/api_table.h"
#include "plan_builder.h"

namespace cufault::tests {
namespace {

using ::testing::HasSubstr;

/* The reason for which the bytes are refused; empty: they are read. */
std::string refusal(const std::string &bytes) {
  // On the heap and of exactly that size, so that a sanitizer sees a step too far.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  faults::plan plan;
  process::message why;
  return plan.read(copy.data(), copy.size(), why) ? "" : std::string(why.view());
}

plan_builder full_plan() {
  plan_builder plan;
  plan.header.backend = CUFAULT_BACKEND_PATH;
  plan.header.backend_path = plan.string("/lib/driver.so");
  plan.header.run_folder = plan.string("/tmp");
  plan.header.flags = CUFAULT_PLAN_TRACE;
  const std::uint32_t step = plan.step("use");
  const std::uint32_t stream_kind = api::kind_index("stream") + 1;
  plan.handle("s", stream_kind, step);
  plan.add(plain_rule(), {"cuStreamDestroy", "cuStreamDestroy_v2"}, "first");
  cufault_plan_rule second = plain_rule(CUFAULT_EFFECT_DELAY, 0);
  second.delay_ns = 5;
  second.after_rule = 1;
  second.step = step;
  second.handle_name = 1;
  plan.add(second, {"cuStreamSynchronize"}, "second");
  return plan;
}

TEST(Plan, IsReadWhereEveryPartIsInOrder) {
  const std::string bytes = full_plan().bytes();
  faults::plan plan;
  process::message why;
  ASSERT_TRUE(plan.read(bytes.data(), bytes.size(), why)) << why.c_str();
  EXPECT_EQ(plan.rule_count(), 2u);
  EXPECT_STREQ(plan.label(1), "second");
  EXPECT_STREQ(plan.step_name(0), "use");
  EXPECT_EQ(plan.rule_symbol(plan.rule(0), 1), api::symbol_index("cuStreamDestroy_v2"));
}

TEST(Plan, CutAnywhereIsRefused) {
  const std::string bytes = full_plan().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) ASSERT_NE(refusal(bytes.substr(0, size)), "") << size;
}

TEST(Plan, WithAnyByteChangedIsRefused) {
  const std::string bytes = full_plan().bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    ASSERT_NE(refusal(changed), "") << at;
  }
}

TEST(Plan, OfAnotherVersionIsRefusedByItsNumber) {
  plan_builder plan = full_plan();
  plan.header.version = 2;
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("version 2"));
}

struct header_case {
  const char *reason;
  std::function<void(plan_builder &)> spoil;
};

TEST(Plan, WithAHeaderFieldThatThisBuildDoesNotKnowIsRefused) {
  const header_case cases[] = {
      {"not a plan", [](plan_builder &p) { p.header.magic[0] = 'X'; }},
      {"version", [](plan_builder &p) { p.header.header_size = 160; }},
      {"bytes instead", [](plan_builder &p) { p.header.file_size = 9; }},
      {"flags", [](plan_builder &p) { p.header.flags |= 1u << 20; }},
      {"without a trace", [](plan_builder &p) { p.header.flags = CUFAULT_PLAN_TRACE_STACKS; }},
      {"backend 9", [](plan_builder &p) { p.header.backend = 9; }},
      {"backend 0", [](plan_builder &p) { p.header.backend = 0; }},
      {"backend_path", [](plan_builder &p) { p.header.backend_path = 100000; }},
      {"not an absolute path", [](plan_builder &p) { p.header.backend_path = p.string("driver.so"); }},
      {"not an absolute path", [](plan_builder &p) { p.header.run_folder = p.string("runs"); }},
      {"run_folder", [](plan_builder &p) { p.header.run_folder = 100000; }},
      {"sim_profile", [](plan_builder &p) { p.header.sim_profile = 100000; }},
      {"trace_segment_records", [](plan_builder &p) { p.header.trace_segment_records = 0xffffffffu; }},
      {"reserved", [](plan_builder &p) { p.header.reserved[8] = 1; }},
      {"rules do not lie", [](plan_builder &p) { p.header.rules_at = 4; }},
      {"rules do not lie", [](plan_builder &p) { p.header.rules_at = 156; }},
      {"rules do not lie", [](plan_builder &p) { p.header.rule_count = 0x10000000u; }},
      {"symbols do not lie", [](plan_builder &p) { p.header.symbol_list_at = 0xfffffffcu; }},
      {"step names do not lie", [](plan_builder &p) { p.header.step_count = 0xffffffffu; }},
      {"handle names do not lie", [](plan_builder &p) { p.header.handle_names_at = 154; }},
      {"strings do not lie", [](plan_builder &p) { p.header.strings_size = 0xffffffffu; }},
      {"begin and end with a NUL", [](plan_builder &p) { p.header.strings_size = 3; }},
  };
  for (const header_case &each : cases) {
    plan_builder plan = full_plan();
    each.spoil(plan);
    EXPECT_THAT(refusal(plan.bytes()), HasSubstr(each.reason));
  }
}

struct rule_case {
  const char *reason;
  std::function<void(cufault_plan_rule &)> spoil;
};

TEST(Plan, WithARuleThatCannotBeHonouredIsRefusedByTheRulesName) {
  const rule_case cases[] = {
      {"label", [](cufault_plan_rule &r) { r.label = 99999; }},
      {"outside the plan's list", [](cufault_plan_rule &r) { r.symbols_first = 0xffffffffu; }},
      {"outside the plan's list", [](cufault_plan_rule &r) { r.symbols_count = 4; }},
      {"no function", [](cufault_plan_rule &r) { r.symbols_count = 0; }},
      {"effect 0", [](cufault_plan_rule &r) { r.effect = 0; }},
      {"effect 99", [](cufault_plan_rule &r) { r.effect = 99; }},
      {"code 0", [](cufault_plan_rule &r) { r.code = 0; }},
      {"code 12345", [](cufault_plan_rule &r) { r.code = 12345; }},
      {"code -1", [](cufault_plan_rule &r) { r.code = -1; }},
      {"a kernel makes", [](cufault_plan_rule &r) { r.effect = CUFAULT_EFFECT_REAL_FAULT, r.code = 201; }},
      {"takes no code", [](cufault_plan_rule &r) { r.effect = CUFAULT_EFFECT_HANG; }},
      {"DEINITIALIZED only", [](cufault_plan_rule &r) { r.effect = CUFAULT_EFFECT_DEINITIALIZE; }},
      {"sticky_scope 2", [](cufault_plan_rule &r) { r.sticky_scope = 2; }},
      {"sticky", [](cufault_plan_rule &r) { r.sticky_scope = 1; }},
      {"from is 0", [](cufault_plan_rule &r) { r.from = 0; }},
      {"every is 0", [](cufault_plan_rule &r) { r.every = 0; }},
      {"probability", [](cufault_plan_rule &r) { r.probability = 0.0; }},
      {"probability", [](cufault_plan_rule &r) { r.probability = 1.5; }},
      {"probability", [](cufault_plan_rule &r) { r.probability = std::numeric_limits<double>::quiet_NaN(); }},
      {"nested 3", [](cufault_plan_rule &r) { r.nested = 3; }},
      {"thread 4", [](cufault_plan_rule &r) { r.thread = 4; }},
      {"thread by name", [](cufault_plan_rule &r) { r.thread = CUFAULT_THREAD_NAME; }},
      {"thread by ordinal", [](cufault_plan_rule &r) { r.thread = CUFAULT_THREAD_ORDINAL; }},
      {"thread by ordinal", [](cufault_plan_rule &r) { r.thread_ordinal = 3; }},
      {"thread_name", [](cufault_plan_rule &r) { r.thread_name = 99999; }},
      {"step", [](cufault_plan_rule &r) { r.step = 2; }},
      {"after_rule", [](cufault_plan_rule &r) { r.after_rule = 3; }},
      {"waits for itself", [](cufault_plan_rule &r) { r.after_rule = 1; }},
      {"switch_role 3", [](cufault_plan_rule &r) { r.switch_role = 3; }},
      {"handle_kind", [](cufault_plan_rule &r) { r.handle_kind = 1000; }},
      {"handle name", [](cufault_plan_rule &r) { r.handle_name = 2; }},
      {"ordinal needs its kind", [](cufault_plan_rule &r) { r.handle_ordinal = 1; }},
      {"not both", [](cufault_plan_rule &r) { r.handle_ordinal = r.handle_kind = r.handle_name = 1; }},
      {"compare 6", [](cufault_plan_rule &r) { r.compare = 6; }},
      {"need a comparison", [](cufault_plan_rule &r) { r.value = 1; }},
      {"has no argument 1", [](cufault_plan_rule &r) { r.compare = 1, r.argument = 1; }},
      {"callback", [](cufault_plan_rule &r) { r.callback = 99999; }},
      {"module", [](cufault_plan_rule &r) { r.module = 99999; }},
      {"what effect callback needs", [](cufault_plan_rule &r) { r.effect = CUFAULT_EFFECT_CALLBACK, r.code = 0; }},
      {"not honoured", [](cufault_plan_rule &r) { r.native_frame = 1; }},
      {"unique_stack 2", [](cufault_plan_rule &r) { r.unique_stack = 2; }},
      {"delay", [](cufault_plan_rule &r) { r.delay_ns = 1; }},
      {"reserved", [](cufault_plan_rule &r) { r.reserved[20] = 1; }},
  };
  for (const rule_case &each : cases) {
    plan_builder plan = full_plan();
    each.spoil(plan.rules[0]);
    EXPECT_THAT(refusal(plan.bytes()), ::testing::AllOf(HasSubstr(each.reason), HasSubstr("rule 1")));
  }
}

TEST(Plan, WithAFunctionThatNoDriverHasIsRefusedByItsName) {
  plan_builder plan;
  plan.add(plain_rule(), {"cuStreamDestory"});
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("'cuStreamDestory' is no function"));
}

TEST(Plan, WithTwoRulesOfOneLabelIsRefused) {
  plan_builder plan;
  plan.add(plain_rule(), {"cuInit"}, "same");
  plan.add(plain_rule(), {"cuInit"}, "same");
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("same label"));
}

TEST(Plan, ThatNarrowsAMissingFunctionIsRefused) {
  plan_builder plan;
  cufault_plan_rule rule = plain_rule(CUFAULT_EFFECT_MISSING, 0);
  rule.from = 2;
  plan.add(rule, {"cuStreamCreate"});
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("missing always"));
}

TEST(Plan, WithAHandleNameOfNoKindIsRefused) {
  plan_builder plan;
  plan.handle("s", 0, 0);
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("handle name 1: kind 0"));
}

TEST(Plan, WithAHandleNameOfNoStepOfItsOwnIsRefused) {
  plan_builder plan;
  plan.handle("s", 1, 1);
  EXPECT_THAT(refusal(plan.bytes()), HasSubstr("step 1 is none"));
}

}  // namespace
}  // namespace cufault::tests

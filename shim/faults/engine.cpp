// SPDX-License-Identifier: Apache-2.0
// Rules against calls: filters, ordinals, effects.
#include "engine.h"

#include <sys/prctl.h>

#include <cstring>
#include <string_view>

#include "handle_roles.h"
#include "process/memory.h"
#include "process/modules.h"

namespace cufault::faults {
namespace {

constexpr std::int32_t deinitialized = 4;
constexpr std::int32_t not_found = 500;
constexpr std::size_t most_stacks = std::size_t{1} << 16;

// SplitMix64 over (seed, ordinal): the same call of the same rule always draws the same number, on any thread.
double draw(std::uint64_t seed, std::uint64_t ordinal) noexcept {
  std::uint64_t mixed = seed + ordinal * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return static_cast<double>(mixed >> 11) * 0x1.0p-53;
}

bool compare(std::uint32_t how, std::uint64_t argument, std::uint64_t value) noexcept {
  switch (how) {
    case CUFAULT_COMPARE_EQUAL: return argument == value;
    case CUFAULT_COMPARE_NOT_EQUAL: return argument != value;
    case CUFAULT_COMPARE_LESS: return argument < value;
    case CUFAULT_COMPARE_GREATER: return argument > value;
    case CUFAULT_COMPARE_HAS_BITS: return (argument & value) == value;
    default: return true;
  }
}

bool nested_wanted(std::uint32_t rule, bool nested) noexcept {
  return nested ? rule != CUFAULT_NESTED_NO : rule != CUFAULT_NESTED_ONLY;
}

// Kept in step with engine::matches: what that asks after its first line.
bool is_filtered(const cufault_plan_rule &rule) noexcept {
  const std::uint32_t fields[] = {rule.step, rule.switch_role, rule.after_rule, rule.compare, rule.context_ordinal, rule.device_plus_1,
                                  rule.handle_kind, rule.handle_name, rule.thread, rule.module, rule.unique_stack};
  for (const std::uint32_t field : fields) {
    if (field != 0) return true;
  }
  return false;
}

}  // namespace

bool engine::start(const plan &plan, cufault_control_rule *counters) noexcept {
  plan_ = &plan;
  counters_ = counters;
  std::size_t listed = 0;
  for (std::uint32_t i = 0; i < plan.rule_count(); ++i) listed += plan.rule(i).symbols_count;
  rules_ = process::map_array<rule_state>(plan.rule_count());
  first_ = process::map_array<std::uint32_t>(api::symbol_count + 1);
  list_ = process::map_array<std::uint32_t>(listed);
  needs_stack_ = process::map_array<bool>(api::symbol_count);
  if (needs_stack_ == nullptr || rules_ == nullptr || first_ == nullptr || list_ == nullptr || !handles_.start(plan)) return false;

  // Counted, then filled in plan order, so that each symbol's run is in plan order too. A symbol listed twice in one
  // rule counts once.
  const auto each_symbol = [&](std::uint32_t rule, auto visit) {
    const cufault_plan_rule &of = plan.rule(rule);
    for (std::uint32_t i = 0; i < of.symbols_count; ++i) visit(plan.rule_symbol(of, i));
  };
  for (std::uint32_t rule = 0; rule < plan.rule_count(); ++rule)
    each_symbol(rule, [&](std::uint32_t symbol) { ++first_[symbol + 1]; });
  for (std::uint32_t symbol = 0; symbol < api::symbol_count; ++symbol) first_[symbol + 1] += first_[symbol];
  auto *const filled = process::map_array<std::uint32_t>(api::symbol_count);
  if (filled == nullptr) return false;
  for (std::uint32_t rule = 0; rule < plan.rule_count(); ++rule) {
    each_symbol(rule, [&](std::uint32_t symbol) {
      const std::uint32_t at = first_[symbol] + filled[symbol];
      const bool twice = filled[symbol] != 0 && list_[at - 1] == rule + 1;
      if (!twice) {
        list_[at] = rule + 1;
        ++filled[symbol];
      }
    });
  }
  for (std::uint32_t rule = 0; rule < plan.rule_count(); ++rule) {
    rules_[rule].filtered = is_filtered(plan.rule(rule));
    if (plan.rule(rule).unique_stack == 0) continue;
    by_stack_ = true;
    rules_[rule].seen = process::map_array<std::atomic<std::uint64_t>>(most_stacks);
    if (rules_[rule].seen == nullptr) return false;
    each_symbol(rule, [&](std::uint32_t symbol) { needs_stack_[symbol] = true; });
  }
  process::unmap_pages(filled, api::symbol_count * sizeof(std::uint32_t));
  return true;
}

void engine::reset(cufault_control_rule *counters) noexcept {
  counters_ = counters;
  for (std::uint32_t i = 0; i < plan_->rule_count(); ++i) {
    for (std::size_t at = 0; rules_[i].seen != nullptr && at < most_stacks; ++at) rules_[i].seen[at].store(0, std::memory_order_relaxed);
  }
  state_.reset();
  handles_.reset();
  contexts_.reset();
}

void engine::ended(api::handle_kind kind, std::uint64_t handle) noexcept {
  handles_.destroyed(kind, handle);
  if (kind == api::handle_kind::context) contexts_.destroyed(handle);
}

std::uint32_t engine::fire_missing(std::uint32_t symbol) noexcept {
  for (std::uint32_t i = first_[symbol]; i < first_[symbol + 1] && list_[i] != 0; ++i) {
    const std::uint32_t rule = list_[i] - 1;
    if (plan_->rule(rule).effect != CUFAULT_EFFECT_MISSING || disarmed(rule)) continue;
    counter(counters_[rule].matched).fetch_add(1, std::memory_order_relaxed);
    counter(counters_[rule].fired).fetch_add(1, std::memory_order_release);
    return rule + 1;
  }
  return 0;
}

void engine::switch_step(std::uint32_t step, thread_state &thread) noexcept {
  const std::uint64_t serial = step_serial_.fetch_add(1, std::memory_order_acq_rel) + 1;
  open_step_.store(step, std::memory_order_release);
  thread.step.begin(serial, thread.contexts.current());
}

switch_role engine::classify(const call_facts &call, thread_state &thread) const noexcept {
  const std::uint64_t serial = step_serial_.load(std::memory_order_acquire);
  const std::uint64_t current = thread.contexts.current();
  const std::uint64_t below = thread.contexts.below();
  switch (api::function_of(api::symbols[call.symbol]).switches) {
    case api::context_switch::set: return thread.step.classify(serial, current, call.args[0] != 0 ? call.args[0] : below);
    case api::context_switch::push: return thread.step.classify(serial, current, call.args[0]);
    case api::context_switch::pop: return thread.step.classify(serial, current, below);
    case api::context_switch::create: return thread.step.classify_create(serial, current);
    case api::context_switch::destroy:
    case api::context_switch::none: break;
  }
  return switch_role::none;
}

void engine::follow_switch(const call_facts &call, thread_state &thread) noexcept {
  context_stack &contexts = thread.contexts;
  const std::uint64_t before = contexts.current();
  switch (api::function_of(api::symbols[call.symbol]).switches) {
    case api::context_switch::set: contexts.set(call.args[0]); break;
    case api::context_switch::push: contexts.push(call.args[0]); break;
    case api::context_switch::pop: contexts.pop(); break;
    case api::context_switch::create: contexts.push(read_out(outs_of(call.symbol).at[0], call.args)); break;
    case api::context_switch::destroy:
      if (call.args[0] != 0 && call.args[0] == before) contexts.pop();
      break;
    case api::context_switch::none: break;
  }
  thread.step.arrived(contexts.current());
}

bool engine::matches_thread(const cufault_plan_rule &rule, const thread_state &thread) const noexcept {
  switch (rule.thread) {
    case CUFAULT_THREAD_MAIN: return thread.main;
    case CUFAULT_THREAD_ORDINAL: return thread.ordinal == rule.thread_ordinal;
    case CUFAULT_THREAD_NAME: {
      char name[17] = {};
      ::prctl(PR_GET_NAME, name);
      return std::strcmp(name, plan_->string(rule.thread_name)) == 0;
    }
    default: return true;
  }
}

bool engine::matches_handle(std::uint32_t rule, const call_facts &call) const noexcept {
  const cufault_plan_rule &of = plan_->rule(rule);
  if (of.handle_kind == 0 && of.handle_name == 0) return true;
  const bool by_value = of.handle_name != 0 || of.handle_ordinal != 0;
  const std::uint64_t wanted = of.handle_name != 0 ? handles_.of_name(of.handle_name - 1) : handles_.of_rule(rule);
  if (by_value && wanted == 0) return false;
  const api::handle_kind wanted_kind = of.handle_name != 0 ? handles_.kind_of_name(of.handle_name - 1)
                                                           : static_cast<api::handle_kind>(of.handle_kind - 1);
  return any_given_handle(call.symbol, call.args, [&](api::handle_kind kind, api::role_verb, std::uint64_t value) {
    return same_kind(kind, wanted_kind) && (by_value ? value == wanted : value != 0);
  });
}

bool engine::matches(std::uint32_t rule, const call_facts &call, const thread_state &thread, switch_role role) noexcept {
  const cufault_plan_rule &of = plan_->rule(rule);
  if (disarmed(rule) || !nested_wanted(of.nested, call.nested)) return false;
  if (!rules_[rule].filtered) return true;
  if (of.step != 0 && of.step != open_step()) return false;
  if (of.switch_role != CUFAULT_SWITCH_ANY &&
      role != (of.switch_role == CUFAULT_SWITCH_ENTER ? switch_role::enter : switch_role::restore))
    return false;
  if (of.after_rule != 0 && fired(of.after_rule - 1) == 0) return false;
  if (of.compare != CUFAULT_COMPARE_NONE && !compare(of.compare, call.args[of.argument], of.value)) return false;
  const std::uint64_t current = thread.contexts.current();
  if (of.context_ordinal != 0 && contexts_.ordinal(current) != of.context_ordinal) return false;
  if (of.device_plus_1 != 0 && contexts_.device_plus_1(current) != of.device_plus_1) return false;
  if (!matches_handle(rule, call) || !matches_thread(of, thread)) return false;
  if (of.module != 0 && !process::in_module(call.caller, plan_->string(of.module))) return false;
  return of.unique_stack == 0 || first_of_stack(rule, call.stack);
}

// A table that is full knows every stack: then the rule fires no more, rather than twice for one.
bool engine::first_of_stack(std::uint32_t rule, std::uint64_t stack) noexcept {
  std::atomic<std::uint64_t> *const seen = rules_[rule].seen;
  for (std::size_t tried = 0; tried < most_stacks; ++tried) {
    std::uint64_t there = 0;
    if (seen[(stack + tried) % most_stacks].compare_exchange_strong(there, stack, std::memory_order_relaxed)) return true;
    if (there == stack) return false;
  }
  return false;
}

// Positions are a function of the ordinal alone, so "exactly the 1000th" holds whatever threads do. With a probability,
// a limit counts those that were drawn.
bool engine::due(std::uint32_t rule, std::uint64_t ordinal) noexcept {
  const cufault_plan_rule &of = plan_->rule(rule);
  if (ordinal < of.from || (ordinal - of.from) % of.every != 0) return false;
  if (of.probability >= 1.0) return of.limit == 0 || (ordinal - of.from) / of.every < of.limit;
  if (draw(of.seed, ordinal) >= of.probability) return false;
  return of.limit == 0 || counter(counters_[rule].drawn).fetch_add(1, std::memory_order_relaxed) < of.limit;
}

void engine::apply(std::uint32_t rule, std::uint64_t ordinal, decision &decision) noexcept {
  const cufault_plan_rule &of = plan_->rule(rule);
  counter(counters_[rule].fired).fetch_add(1, std::memory_order_release);
  decision.rule = rule + 1;
  decision.ordinal = ordinal;
  decision.effect = of.effect;
  const auto answer = [&](std::int32_t code, bool forwarded) {
    decision.answered = true;
    decision.forwarded = forwarded;
    decision.code = code;
  };
  const auto scope = of.sticky_scope == CUFAULT_STICKY_DOCUMENTED ? fault_state::kind::sticky_documented
                                                                  : fault_state::kind::sticky_observed;
  switch (of.effect) {
    case CUFAULT_EFFECT_FAIL: answer(of.code, false); break;
    case CUFAULT_EFFECT_CALL_THEN_FAIL: answer(of.code, true); break;
    case CUFAULT_EFFECT_STICKY:
      state_.stick(scope, of.code);
      answer(of.code, false);
      break;
    case CUFAULT_EFFECT_ASYNC: state_.stick(scope, of.code); break;
    case CUFAULT_EFFECT_DEINITIALIZE:
      state_.deinitialize();
      answer(deinitialized, false);
      break;
    case CUFAULT_EFFECT_MISSING: answer(not_found, false); break;
    default: break; /* what happens around a forwarded call is the caller's to do */
  }
}

decision engine::decide(const call_facts &call, thread_state &thread) noexcept {
  decision decided;
  const api::function_info &function = api::function_of(api::symbols[call.symbol]);
  if (function.switches != api::context_switch::none) decided.role = classify(call, thread);
  // A fault that fires here does not answer for this very call a second time.
  const bool faulted = !state_.clear();
  for (std::uint32_t i = first_[call.symbol]; i < first_[call.symbol + 1] && list_[i] != 0; ++i) {
    const std::uint32_t rule = list_[i] - 1;
    if (!matches(rule, call, thread, decided.role)) continue;
    const std::uint64_t ordinal = counter(counters_[rule].matched).fetch_add(1, std::memory_order_relaxed) + 1;
    if (due(rule, ordinal) && decided.rule == 0) apply(rule, ordinal, decided);
  }
  if (faulted && !decided.answered) {
    const fault_state::answer answer = state_.ask(function);
    decided.unrecorded = answer.unrecorded;
    if (answer.instead) {
      decided.answered = true;
      decided.forwarded = false;
      decided.fault_state = true;
      decided.code = answer.code;
    }
  }
  return decided;
}

}  // namespace cufault::faults

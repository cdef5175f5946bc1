/* SPDX-License-Identifier: Apache-2.0 */
/* Decides, call by call, which fault of the plan applies. Knows nothing of traces, slots or drivers. */
#ifndef CUFAULT_FAULTS_ENGINE_H
#define CUFAULT_FAULTS_ENGINE_H

/*
 * Before a call: decide(). After a call that the driver carried out: observe(). Everything between is lock-free and
 * allocates nothing; the counters are exact under threads because each is one atomic addition, and whether a call
 * fires is a function of the number that it drew.
 */

#include <atomic>
#include <cstdint>

#include "contexts.h"
#include "cufault/control_page.h"
#include "fault_state.h"
#include "handles.h"
#include "plan.h"

namespace cufault::faults {

/* What the engine keeps for one thread; all zero for a new one, touched by its thread only. */
struct thread_state {
  context_stack contexts;
  switches step;
  std::uint32_t ordinal; /* in order of first driver call, from 1 */
  bool main;
};

struct call_facts {
  std::uint32_t symbol;
  const std::uint64_t *args;
  bool nested;
  const void *caller;  /* the application's return address */
  std::uint64_t stack; /* stands for the whole stack; only where needs_stack says so */
};

struct decision {
  std::uint32_t rule = 0; /* index + 1 of the rule that fires; 0: none */
  std::uint32_t effect = 0;
  std::uint64_t ordinal = 0; /* of this call among those that the rule matches */
  std::int32_t code = 0;     /* to answer, if answered */
  bool answered = false;     /* the application gets `code` */
  bool forwarded = true;     /* the driver is asked */
  bool fault_state = false;  /* by an earlier fault */
  bool unrecorded = false;
  switch_role role = switch_role::none;
};

class engine {
 public:
  /* `plan`, and one counter a rule, all zero, must outlive it. False: no memory. */
  [[nodiscard]] bool start(const plan &plan, cufault_control_rule *counters) noexcept;
  /* In a forked child: counts in `counters`, nothing is faulted, nothing is bound. The open step stays open. */
  void reset(cufault_control_rule *counters) noexcept;

  /* Whether decide() would let a call of that symbol pass whatever it is: no rule over it, no fault in force. */
  [[nodiscard]] bool indifferent(std::uint32_t symbol) const noexcept {
    return first_[symbol] == first_[symbol + 1] && state_.clear();
  }
  /* Whether a rule over that symbol tells stacks apart. */
  [[nodiscard]] bool needs_stack(std::uint32_t symbol) const noexcept { return by_stack_ && needs_stack_[symbol]; }
  [[nodiscard]] decision decide(const call_facts &call, thread_state &thread) noexcept;

  /* The driver carried the call out. `bound(name index, kind, handle)` is called for each name that now stands for a new object. */
  template <class Bound>
  void observe(const call_facts &call, thread_state &thread, Bound bound) noexcept;

  /* An object that was ended by other means than a call of the program's. */
  void ended(api::handle_kind kind, std::uint64_t handle) noexcept;

  /* A look-up of that symbol: the rule (index + 1) that declares it missing, counted as fired, or 0. */
  [[nodiscard]] std::uint32_t fire_missing(std::uint32_t symbol) noexcept;

  [[nodiscard]] std::uint32_t open_step() const noexcept { return open_step_.load(std::memory_order_acquire); }
  /* The caller sees to it that one step is open at a time. 0 closes. */
  void switch_step(std::uint32_t step, thread_state &thread) noexcept;

  [[nodiscard]] const plan &the_plan() const noexcept { return *plan_; }
  [[nodiscard]] std::uint64_t fired(std::uint32_t rule) const noexcept { return counter(counters_[rule].fired).load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t matched(std::uint32_t rule) const noexcept { return counter(counters_[rule].matched).load(std::memory_order_relaxed); }
  void arm(std::uint32_t rule, bool armed) noexcept {
    std::atomic_ref<std::uint32_t>(counters_[rule].disarmed).store(armed ? 0 : 1, std::memory_order_relaxed);
  }

  [[nodiscard]] handles &objects() noexcept { return handles_; }

 private:
  /* What is kept of a rule besides its counters, which have cache lines of their own. */
  struct rule_state {
    bool filtered; /* it asks for more than the function */
    std::atomic<std::uint64_t> *seen; /* stacks, if each is to fire once */
  };

  [[nodiscard]] static std::atomic_ref<std::uint64_t> counter(std::uint64_t &of) noexcept { return std::atomic_ref<std::uint64_t>(of); }
  [[nodiscard]] bool disarmed(std::uint32_t rule) const noexcept {
    return std::atomic_ref<std::uint32_t>(counters_[rule].disarmed).load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool matches(std::uint32_t rule, const call_facts &call, const thread_state &thread, switch_role role) noexcept;
  [[nodiscard]] bool matches_thread(const cufault_plan_rule &rule, const thread_state &thread) const noexcept;
  [[nodiscard]] bool matches_handle(std::uint32_t rule, const call_facts &call) const noexcept;
  [[nodiscard]] bool first_of_stack(std::uint32_t rule, std::uint64_t stack) noexcept;
  [[nodiscard]] bool due(std::uint32_t rule, std::uint64_t ordinal) noexcept;
  void apply(std::uint32_t rule, std::uint64_t ordinal, decision &decision) noexcept;
  [[nodiscard]] switch_role classify(const call_facts &call, thread_state &thread) const noexcept;
  void follow_switch(const call_facts &call, thread_state &thread) noexcept;

  const plan *plan_ = nullptr;
  cufault_control_rule *counters_ = nullptr;
  rule_state *rules_ = nullptr;
  std::uint32_t *first_ = nullptr; /* per symbol: where its rules begin in list_; one more at the end */
  std::uint32_t *list_ = nullptr;
  bool *needs_stack_ = nullptr; /* per symbol */
  bool by_stack_ = false;
  fault_state state_;
  handles handles_;
  context_registry contexts_;
  std::atomic<std::uint32_t> open_step_{0};
  std::atomic<std::uint64_t> step_serial_{0};
};

}  // namespace cufault::faults

#include "observe.h"

#endif

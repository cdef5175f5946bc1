// SPDX-License-Identifier: Apache-2.0
// An armed call: decided, written down, forwarded or not, written down again.
#include "call.h"
#include "cufault/api_table.h"
#include "effects.h"
#include "faults/handle_roles.h"
#include "lookups.h"
#include "shim.h"
#include "threads.h"
#include "traits.h"

namespace cufault::interpose {
namespace {

// The stack is mirrored; where it changes the driver is asked, for others may have switched behind the shim. Inside a
// callback it may not be.
void check_mirror(thread &me) noexcept {
  faults::context_stack &contexts = me.faults.contexts;
  if (me.depth == 0 && me.callbacks == 0 && !me.of_the_driver) contexts.correct(ask_current_context(contexts.current()));
}

std::uint32_t flags_of(const faults::decision &decided, bool nested) noexcept {
  std::uint32_t flags = CUFAULT_CALL_CONTEXT_KNOWN;
  if (decided.answered) flags |= CUFAULT_CALL_INJECTED;
  if (nested) flags |= CUFAULT_CALL_NESTED;
  if (decided.fault_state) flags |= CUFAULT_CALL_FAULT_STATE;
  if (decided.unrecorded) flags |= CUFAULT_CALL_UNRECORDED;
  if (decided.role == faults::switch_role::enter) flags |= CUFAULT_CALL_ENTER;
  if (decided.role == faults::switch_role::restore) flags |= CUFAULT_CALL_RESTORE;
  if (decided.rule != 0) flags |= CUFAULT_CALL_MATCHED;
  return flags;
}

void write_open(call &call, thread &me) noexcept {
  cufault_trace_record *const record = the_shim.trace.next(me.log, CUFAULT_RECORD_CALL, the_shim.faults.open_step());
  call.record = record;
  if (record == nullptr) return;
  record->flags = call.flags;
  cufault_call_body &body = record->body.call;
  body.symbol = call.symbol;
  body.result_given = CUFAULT_NOT_ANSWERED;
  body.result_real = CUFAULT_NOT_FORWARDED;
  body.rule = call.rule;
  body.ordinal = call.ordinal;
  body.context_before = call.context_before;
  body.stack = call.stack;
  body.argc = static_cast<std::uint8_t>(call.argc);
  const std::uint32_t kept = call.argc < CUFAULT_TRACE_ARGS ? call.argc : CUFAULT_TRACE_ARGS;
  for (std::uint32_t i = 0; i < kept; ++i) body.args[i] = call.args[i];
  trace::writer::publish_open(me.log, *record);
}

void write_complete(call &call, thread &me, std::int32_t given, std::int32_t real) noexcept {
  cufault_trace_record &record = *call.record;
  cufault_call_body &body = record.body.call;
  record.flags = call.flags;
  record.end_ns = the_shim.trace.now(me.log);
  body.rule = call.rule;
  body.result_given = given;
  body.result_real = call.forwarded ? real : CUFAULT_NOT_FORWARDED;
  body.context_after = me.faults.contexts.current();
  if (call.forwarded && real == 0) {
    const faults::out_handles &outs = faults::outs_of(call.symbol);
    for (std::size_t i = 0; i < outs.count; ++i) {
      body.out_arg[i] = outs.at[i].arg;
      body.outs[i] = faults::read_out(outs.at[i], call.args);
    }
    body.outc = outs.count;
  }
  trace::writer::publish_complete(me.log, record);
}

void write_binding(thread &me, std::uint32_t name, api::handle_kind kind, std::uint64_t handle) noexcept {
  if (!the_shim.trace.started()) return;
  trace::text_fields fields;
  fields.type = CUFAULT_RECORD_HANDLE_NAME;
  fields.kind = static_cast<std::uint32_t>(kind) + 1;
  fields.value = handle;
  fields.text = the_shim.plan.string(the_shim.plan.handle_name(name).name);
  the_shim.trace.write_text(me.log, the_shim.faults.open_step(), fields);
}

// A thread whose first frames are the driver's was started by it, and runs the application's code in callbacks only. The
// simulator says so itself.
bool is_of_the_driver(const call &call, thread &me) noexcept {
  constexpr std::size_t most = trace::stack_store::deepest;
  constexpr std::size_t outermost = 4;
  if (me.faults.main || the_shim.plan.header().backend == CUFAULT_BACKEND_SIMULATED) return false;
  std::uintptr_t addresses[most];
  const std::size_t depth = the_shim.unwinder.walk(call.frame, me.stack, addresses, most);
  for (std::size_t i = depth > outermost ? depth - outermost : 0; i < depth; ++i) {
    if (the_shim.driver.holds(addresses[i])) return true;
  }
  return false;
}

// The stack of who called, if anybody asks for it: its hash for the rules, its id for the trace.
std::uint64_t look_at_stack(call &call, thread &me) noexcept {
  std::uintptr_t addresses[trace::stack_store::deepest];
  const std::size_t depth = the_shim.unwinder.walk(call.frame, me.stack, addresses, trace::stack_store::deepest);
  const std::uint64_t hash = process::stack_hash(addresses, depth);
  if (the_shim.stacks.started()) call.stack = the_shim.stacks.id_of(addresses, depth, hash);
  return hash;
}

}  // namespace

bool begin_call(call &call) noexcept {
  check_fork();
  thread &me = this_thread();
  const std::uint64_t calls = me.calls.load(std::memory_order_relaxed);
  if (calls == 0) [[unlikely]]
    me.of_the_driver = is_of_the_driver(call, me);
  me.calls.store(calls + 1, std::memory_order_relaxed);
  call.by = &me;
  const bool traced = the_shim.trace.started();
  if (!traced && traits_of(call.symbol) == 0 && the_shim.faults.indifferent(call.symbol)) [[likely]] {
    ++me.depth;
    return true;
  }
  const bool nested = me.depth != 0 || me.callbacks != 0 || me.of_the_driver;
  if ((traits_of(call.symbol) & switches_context) != 0) check_mirror(me);
  const bool asked = the_shim.stacks.started() || the_shim.faults.needs_stack(call.symbol);
  const std::uint64_t stack = asked ? look_at_stack(call, me) : 0;
  const faults::decision decided = the_shim.faults.decide({call.symbol, call.args, nested, caller_of(call), stack}, me.faults);
  call.watched = true;
  call.generation = the_shim.generation;
  call.context_before = me.faults.contexts.current();
  call.nested = nested;
  call.rule = decided.rule;
  call.ordinal = decided.ordinal;
  call.flags = flags_of(decided, nested);
  call.given = decided.code;
  call.answered = decided.answered;
  call.forwarded = decided.forwarded;
  if (traced) write_open(call, me);
  if (decided.rule != 0) [[unlikely]]
    perform(decided, call.symbol, me);
  if (decided.forwarded) ++me.depth;
  return decided.forwarded;
}

std::int32_t finish_call(call &call, std::int32_t real) noexcept {
  thread &me = *call.by;
  if (!call.watched) [[likely]] {
    --me.depth;
    return real;
  }
  std::int32_t answer = call.answered ? call.given : real;
  // A host function may have forked: this is the child, the parent finishes its own call.
  if (call.generation != the_shim.generation || !the_shim.life.same_process()) [[unlikely]]
    return answer;
  const std::uint8_t traits = traits_of(call.symbol);
  if (call.forwarded) {
    --me.depth;
    if (real == 0 && (traits & (moves_handles | switches_context)) != 0) {
      the_shim.faults.observe({call.symbol, call.args, call.nested, nullptr, 0}, me.faults,
                              [&](std::uint32_t name, api::handle_kind kind, std::uint64_t handle) {
                                write_binding(me, name, kind, handle);
                              });
      if ((traits & switches_context) != 0) check_mirror(me);
    }
    if ((traits & looks_up) != 0 && real == 0 && !call.answered) answer = finish_lookup(call, real);
    if ((traits & gives_table) != 0) note_export_table(call, real);
  }
  if (call.record != nullptr) write_complete(call, me, answer, real);
  return answer;
}

}  // namespace cufault::interpose

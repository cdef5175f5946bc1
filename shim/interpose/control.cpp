// SPDX-License-Identifier: Apache-2.0
// The control API: steps, names, counts and notes from inside the program.
#include "cufault/control.h"

#include <string_view>

#include "cufault/api_table.h"
#include "process/memory.h"
#include "shim.h"
#include "threads.h"

namespace cufault::interpose {
namespace {

// Steps that the plan does not know, by the program's own names; ids follow those of the plan.
using own_step = process::text<CUFAULT_TRACE_TEXT>;
constexpr std::uint32_t most_own_steps = 65536;
constinit own_step *own_steps = nullptr;
constinit std::uint32_t own_step_count = 0;

// Under the shim's lock. 0: no memory, or more names than anybody can read.
std::uint32_t step_id(std::string_view name) noexcept {
  const std::uint32_t planned = the_shim.plan.step_count();
  for (std::uint32_t i = 0; i < planned; ++i) {
    if (name == the_shim.plan.step_name(i)) return i + 1;
  }
  own_step wanted;
  wanted << name;
  for (std::uint32_t i = 0; i < own_step_count; ++i) {
    if (wanted.view() == own_steps[i].view()) return planned + i + 1;
  }
  if (own_steps == nullptr) own_steps = process::map_array<own_step>(most_own_steps);
  if (own_steps == nullptr || own_step_count == most_own_steps) return 0;
  own_steps[own_step_count] = wanted;
  return planned + ++own_step_count;
}

// The plan's rule of that label, or rule_count.
std::uint32_t rule_of(std::string_view label) noexcept {
  const std::uint32_t count = the_shim.plan.rule_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (label == the_shim.plan.label(i)) return i;
  }
  return count;
}

// True: a plan is in force, and this process has state of its own.
bool active() noexcept {
  start();
  if (!the_shim.started.load(std::memory_order_acquire) || !the_shim.planned) return false;
  check_fork();
  return true;
}

}  // namespace

const char *step_name(std::uint32_t step) noexcept {
  const std::uint32_t planned = the_shim.plan.step_count();
  if (step == 0) return "";
  if (step <= planned) return the_shim.plan.step_name(step - 1);
  return step - planned <= own_step_count ? own_steps[step - planned - 1].c_str() : "";
}

void write_step(thread &by, std::uint16_t type, std::uint32_t step, const char *name) noexcept {
  if (!the_shim.trace.started()) return;
  trace::text_fields fields;
  fields.type = type;
  fields.value = step;
  fields.other = by.faults.contexts.current();
  fields.text = name;
  the_shim.trace.write_text(by.log, step, fields);
}

namespace {

int step_begin(const char *name) noexcept {
  thread &me = this_thread();
  if (me.depth == 0 && me.callbacks == 0) {
    faults::context_stack &contexts = me.faults.contexts;
    contexts.correct(ask_current_context(contexts.current()));
  }
  const process::hold held(the_shim.lock);
  if (the_shim.faults.open_step() != 0) return CUFAULT_STEP_OPEN;
  const std::uint32_t id = step_id(name);
  if (id == 0) return CUFAULT_UNKNOWN;
  write_step(me, CUFAULT_RECORD_STEP_BEGIN, id, name);
  the_shim.faults.switch_step(id, me.faults);
  return CUFAULT_OK;
}

int step_end() noexcept {
  thread &me = this_thread();
  const process::hold held(the_shim.lock);
  const std::uint32_t id = the_shim.faults.open_step();
  if (id == 0) return CUFAULT_NO_STEP;
  the_shim.faults.switch_step(0, me.faults);
  write_step(me, CUFAULT_RECORD_STEP_END, id, step_name(id));
  return CUFAULT_OK;
}

int name_handle(std::string_view kind, std::uint64_t handle, const char *name) noexcept {
  const std::uint32_t index = api::kind_index(kind);
  if (index == api::kind_count) return CUFAULT_UNKNOWN;
  the_shim.faults.objects().bind(static_cast<api::handle_kind>(index), handle, name);
  if (the_shim.trace.started()) {
    trace::text_fields fields;
    fields.type = CUFAULT_RECORD_HANDLE_NAME;
    fields.kind = index + 1;
    fields.value = handle;
    fields.text = name;
    the_shim.trace.write_text(this_thread().log, the_shim.faults.open_step(), fields);
  }
  return CUFAULT_OK;
}

void write_note(std::uint32_t kind, std::uint64_t value, std::uint64_t other, std::uint64_t third, std::string_view text) noexcept {
  if (!the_shim.trace.started()) return;
  trace::text_fields fields;
  fields.kind = kind;
  fields.value = value;
  fields.other = other;
  fields.third = third;
  fields.text = text;
  the_shim.trace.write_text(this_thread().log, the_shim.faults.open_step(), fields);
}

// The process ends in good order. Calls may still come after this, and are recorded like any other.
__attribute__((destructor)) void note_exit() {
  if (!the_shim.started.load(std::memory_order_acquire) || !the_shim.planned || !the_shim.life.same_process()) return;
  for (std::uint32_t i = 0; i < the_shim.plan.rule_count(); ++i)
    write_note(CUFAULT_NOTE_RULE_COUNT, i + 1, the_shim.faults.fired(i), the_shim.faults.matched(i), the_shim.plan.label(i));
  write_note(CUFAULT_NOTE_EXIT, 0, 0, 0, "");
}

}  // namespace
}  // namespace cufault::interpose

using namespace cufault;
using namespace cufault::interpose;

#pragma GCC visibility push(default)

int cufault_control_version(void) { return CUFAULT_CONTROL_VERSION; }

int cufault_active(void) { return active() ? CUFAULT_OK : CUFAULT_IDLE; }

int cufault_step_begin(const char *name) {
  if (!active()) return CUFAULT_IDLE;
  return name == nullptr || *name == '\0' ? CUFAULT_UNKNOWN : step_begin(name);
}

int cufault_step_end(void) { return active() ? step_end() : CUFAULT_IDLE; }

int cufault_name_handle(const char *kind, uint64_t handle, const char *name) {
  if (!active()) return CUFAULT_IDLE;
  return kind == nullptr || name == nullptr ? CUFAULT_UNKNOWN : name_handle(kind, handle, name);
}

uint64_t cufault_fired(const char *label) {
  if (!active() || label == nullptr) return 0;
  const std::uint32_t rule = rule_of(label);
  return rule == the_shim.plan.rule_count() ? 0 : the_shim.faults.fired(rule);
}

uint64_t cufault_matched(const char *label) {
  if (!active() || label == nullptr) return 0;
  const std::uint32_t rule = rule_of(label);
  return rule == the_shim.plan.rule_count() ? 0 : the_shim.faults.matched(rule);
}

int cufault_arm(const char *label, int armed) {
  if (!active()) return CUFAULT_IDLE;
  const std::uint32_t rule = label == nullptr ? the_shim.plan.rule_count() : rule_of(label);
  if (rule == the_shim.plan.rule_count()) return CUFAULT_UNKNOWN;
  the_shim.faults.arm(rule, armed != 0);
  return CUFAULT_OK;
}

uint64_t cufault_calls(void) { return active() ? count_calls() : 0; }

int cufault_note(const char *text) {
  if (!active()) return CUFAULT_IDLE;
  write_note(CUFAULT_NOTE_TEXT, 0, 0, 0, text == nullptr ? "" : text);
  return CUFAULT_OK;
}

#pragma GCC visibility pop

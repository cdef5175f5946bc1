// SPDX-License-Identifier: Apache-2.0
// A run told call by call.
#include "story.h"

#include <cufault/plan_format.h>

#include <stdexcept>

#include "text.h"

namespace cufault::judge::testing {

story::story() {
  process only;
  only.pid = 1;
  only.backend = CUFAULT_BACKEND_SIMULATED;
  only.program = "/usr/bin/python3";
  only.rules = {"f1", "f2"};
  calls_.processes.push_back(only);
}

observed& story::show(shown what) {
  observed event;
  event.what = what;
  event.pid = 1;
  event.time_ns = now_ += 10;
  if (open_ != 0) event.step = open_name_;
  showed_.events.push_back(std::move(event));
  return showed_.events.back();
}

story& story::begin(std::string name, std::string verb, std::string channel, std::string thing, bool changes_context) {
  begin_unseen(std::move(name));
  seen_ = true;
  observed& event = show(shown::step_begin);
  event.name = open_name_;
  event.verb = std::move(verb);
  event.channel = std::move(channel);
  event.step_object = std::move(thing);
  event.changes_context = changes_context;
  return *this;
}

story& story::begin_unseen(std::string name) {
  open_ = ++steps_;
  open_name_ = std::move(name);
  opener_ = thread_;
  seen_ = false;
  record(CUFAULT_RECORD_STEP_BEGIN, "", 0, open_name_);
  last().value = open_;
  last().other = current_;
  return *this;
}

story& story::end(std::string outcome) {
  const std::uint32_t thread = std::exchange(thread_, opener_);
  record(CUFAULT_RECORD_STEP_END, "", 0, open_name_);
  last().value = open_;
  last().other = current_;
  thread_ = thread;
  if (seen_) {
    observed& event = show(shown::step_end);
    event.name = open_name_;
    event.outcome = std::move(outcome);
  }
  open_ = 0;
  return *this;
}

story& story::on_thread(std::uint32_t thread) {
  thread_ = thread;
  return *this;
}

event& story::last() { return calls_.events.back(); }

story& story::record(std::uint16_t type, std::string_view symbol, std::uint32_t kind, std::string text) {
  event out;
  out.type = type;
  out.pid = 1;
  out.thread = thread_;
  out.sequence = calls_.events.size() + 1;
  out.begin_ns = out.end_ns = now_ += 10;
  out.step = open_;
  out.kind = kind;
  out.name = symbol;
  out.entry = api::find_symbol(symbol);
  out.text = std::move(text);
  calls_.events.push_back(std::move(out));
  return *this;
}

event& story::add(std::string_view symbol, numbers args, std::uint64_t made) {
  record(CUFAULT_RECORD_CALL, symbol, 0, {});
  event& out = last();
  // A test that misspells an entry point would test nothing.
  if (out.entry == nullptr) throw std::logic_error("no entry point is called " + std::string(symbol));
  out.end_ns = now_ += 5;
  out.flags = CUFAULT_CALL_CONTEXT_KNOWN;
  out.given = out.real = 0;
  out.context_before = out.context_after = current_;
  out.argc = static_cast<std::uint32_t>(args.size());
  std::size_t index = 0;
  for (const std::uint64_t argument : args) out.args[index++] = argument;
  if (made == 0) return out;
  for (const api::role& role : out.entry->roles) {
    if (!role.out) continue;
    out.outc = 1;
    out.out_arg[0] = static_cast<std::uint8_t>(role.arg);
    out.outs[0] = made;
    break;
  }
  return out;
}

story& story::call(std::string_view symbol, numbers args, std::uint64_t made) {
  add(symbol, args, made);
  return *this;
}

story& story::fails(std::string_view symbol, numbers args, int code) {
  event& out = add(symbol, args, 0);
  out.given = code;
  out.real = CUFAULT_NOT_FORWARDED;
  out.flags |= CUFAULT_CALL_INJECTED;
  out.rule = 1;
  return *this;
}

story& story::does_and_fails(std::string_view symbol, numbers args, int code, std::uint64_t made) {
  event& out = add(symbol, args, made);
  out.given = code;
  out.flags |= CUFAULT_CALL_INJECTED;
  out.rule = 1;
  return *this;
}

story& story::driver_fails(std::string_view symbol, numbers args, int code) {
  event& out = add(symbol, args, 0);
  out.given = out.real = code;
  return *this;
}

story& story::in_fault_state() {
  last().flags &= ~std::uint32_t{CUFAULT_CALL_INJECTED};
  last().flags |= CUFAULT_CALL_FAULT_STATE;
  last().rule = 0;
  return *this;
}

story& story::nested() {
  last().flags |= CUFAULT_CALL_NESTED;
  return *this;
}

story& story::never_returned() {
  last().open = true;
  last().end_ns = 0;
  last().given = CUFAULT_NOT_ANSWERED;
  return *this;
}

story& story::by_rule(std::uint32_t rule) {
  last().rule = rule;
  return *this;
}

story& story::enters(std::uint64_t context) {
  add("cuCtxSetCurrent", {context}, 0).flags |= CUFAULT_CALL_ENTER;
  current_ = last().context_after = context;
  return *this;
}

story& story::restores(std::uint64_t context) {
  add("cuCtxSetCurrent", {context}, 0).flags |= CUFAULT_CALL_RESTORE;
  current_ = last().context_after = context;
  return *this;
}

story& story::enter_fails(std::uint64_t context, int code) {
  fails("cuCtxSetCurrent", {context}, code);
  last().flags |= CUFAULT_CALL_ENTER;
  return *this;
}

story& story::restore_fails(std::uint64_t context, int code) {
  fails("cuCtxSetCurrent", {context}, code);
  last().flags |= CUFAULT_CALL_RESTORE;
  return *this;
}

story& story::current(std::uint64_t context) {
  current_ = context;
  return *this;
}

story& story::raises(std::string type, std::string message, int code, std::vector<std::string> notes,
                     std::string module) {
  observed& event = show(shown::exception);
  event.error.mro = {module + "." + type, "builtins.Exception"};
  event.error.type = std::move(type);
  event.error.module = std::move(module);
  event.error.message = std::move(message);
  event.error.notes = std::move(notes);
  if (code != 0) event.error.code = code;
  return *this;
}

story& story::unhandled(std::string type, std::string message) {
  raises(std::move(type), std::move(message));
  showed_.events.back().handled = false;
  return *this;
}

story& story::warns(std::string message, std::string category, std::string base) {
  observed& event = show(shown::warning);
  event.error.mro = {"lib." + category, "builtins." + base, "builtins.Warning"};
  event.error.type = std::move(category);
  event.error.module = "lib";
  event.error.message = std::move(message);
  return *this;
}

story& story::unraisable(std::string type, std::string message, std::vector<std::string> warning_mro) {
  observed& event = show(shown::unraisable);
  event.error.type = std::move(type);
  event.error.message = std::move(message);
  event.warning_mro = std::move(warning_mro);
  return *this;
}

story& story::report(std::string message) {
  show(shown::report).error.message = std::move(message);
  return *this;
}

story& story::writes_to_stderr(std::string text) {
  observed& event = show(shown::standard_error);
  event.step.reset();
  event.text = std::move(text);
  return *this;
}

story& story::named(std::string name, std::string kind, std::uint64_t handle) {
  observed& event = show(shown::handle);
  event.name = std::move(name);
  event.kind = std::move(kind);
  event.handle = handle;
  return *this;
}

story& story::finalizes() {
  show(shown::finalizing);
  return *this;
}

story& story::exits(int status) {
  observed& event = show(shown::exit);
  event.step.reset();
  event.status = status;
  return *this;
}

story& story::dies_of(std::string signal) {
  observed& event = show(shown::exit);
  event.step.reset();
  event.signal = std::move(signal);
  return *this;
}

story& story::times_out() {
  dies_of("SIGKILL");
  showed_.events.back().timed_out = true;
  return *this;
}

story& story::program_filters_warnings() {
  show(shown::process).warning_filter = "program";
  return *this;
}

story& story::planned(std::uint32_t effect, std::string_view at, int code) {
  if (!plan_) plan_.emplace();
  plan_rule rule;
  rule.label = "f" + std::to_string(plan_->rules.size() + 1);
  rule.symbols = {std::string(at)};
  rule.effect = effect;
  rule.code = code;
  plan_->rules.push_back(std::move(rule));
  return *this;
}

story& story::lost(std::uint64_t records) {
  calls_.processes.front().lost = records;
  return *this;
}

run story::told(std::string_view profile_name) const {
  const profile* by = find_profile(profile_name);
  if (by == nullptr) throw std::logic_error("no profile is called " + std::string(profile_name));
  return assemble(calls_, showed_, plan_, *by);
}

finding story::found(std::string_view rule, std::string_view profile_name) const {
  const oracle* by = find_oracle(rule);
  if (by == nullptr) throw std::logic_error("no oracle judges " + std::string(rule));
  return by->judge(told(profile_name));
}

std::string message_of(int code) {
  const api::result* result = api::find_result(code);
  return std::string(result->name) + ": " + std::string(result->description);
}

std::string report_of(std::string_view function, int code, std::uint64_t handle) {
  return std::string(function) + "(" + hex(handle) + ") failed with " + message_of(code);
}

}  // namespace cufault::judge::testing

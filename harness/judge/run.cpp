// SPDX-License-Identifier: Apache-2.0
// Puts a run together: steps from trace and observation, failed calls, and what is owed for each.
#include "run.h"

#include <cufault/plan_format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "attribution.h"
#include "text.h"

namespace cufault::judge {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
constexpr int deinitialized = 4;

void steps_of_trace(run& of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> open;  // by process and id
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& record = of.calls.events[index];
    if (record.type == CUFAULT_RECORD_STEP_BEGIN) {
      step opened;
      opened.pid = record.pid;
      opened.name = record.text;
      opened.id = static_cast<std::uint32_t>(record.value);
      opened.begin_ns = record.begin_ns;
      opened.end_ns = never;
      opened.thread = record.thread;
      opened.first = index;
      opened.context_begin = record.other;
      open[{record.pid, opened.id}] = of.steps.size();
      of.steps.push_back(std::move(opened));
    } else if (record.type == CUFAULT_RECORD_STEP_END) {
      const auto found = open.find({record.pid, static_cast<std::uint32_t>(record.value)});
      if (found == open.end()) continue;
      step& closed = of.steps[found->second];
      closed.end_ns = std::max(record.begin_ns, record.end_ns);
      closed.last = index;
      closed.closed = true;
      // Another thread's context says nothing about the one that opened the step.
      if (record.thread == closed.thread) closed.context_end = record.other;
      open.erase(found);
    }
  }
}

// The n-th opening of a name in the observation is the n-th in the trace.
void steps_of_observation(run& of) {
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::size_t>> traced;
  for (std::size_t index = 0; index < of.steps.size(); ++index) {
    traced[{of.steps[index].pid, of.steps[index].name}].push_back(index);
  }
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> seen;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> open;
  for (const observed& shown_event : of.showed.events) {
    const std::pair<std::uint32_t, std::string> key(shown_event.pid, shown_event.name);
    if (shown_event.what == shown::step_begin) {
      const std::size_t ordinal = seen[key]++;
      std::size_t place = of.steps.size();
      if (const auto found = traced.find(key); found != traced.end() && ordinal < found->second.size()) {
        place = found->second[ordinal];
      } else {
        step opened;
        opened.pid = shown_event.pid;
        opened.name = shown_event.name;
        opened.begin_ns = shown_event.time_ns;
        opened.end_ns = never;
        of.steps.push_back(std::move(opened));
      }
      step& opened = of.steps[place];
      opened.begin_ns = std::min(opened.begin_ns, shown_event.time_ns);
      opened.verb = shown_event.verb;
      opened.object = shown_event.step_object;
      opened.kind = shown_event.kind;
      if (!shown_event.channel.empty()) opened.channel = shown_event.channel;
      opened.changes_context = shown_event.changes_context;
      open[key] = place;
    } else if (shown_event.what == shown::step_end) {
      const auto found = open.find(key);
      if (found == open.end()) continue;
      step& closed = of.steps[found->second];
      closed.end_ns = closed.end_ns == never ? shown_event.time_ns : std::max(closed.end_ns, shown_event.time_ns);
      closed.closed = true;
      closed.outcome = shown_event.outcome;
      closed.reason = shown_event.reason;
      open.erase(found);
    }
  }
}

void sort_steps(run& of) {
  std::stable_sort(of.steps.begin(), of.steps.end(),
                   [](const step& left, const step& right) { return left.begin_ns < right.begin_ns; });
}

// By the id that the record carries: the latest opening of that step before the call.
void place_calls(run& of) {
  of.step_of_call.assign(of.calls.events.size(), nowhere);
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& record = of.calls.events[index];
    if (record.step == 0) continue;
    for (std::size_t place = 0; place < of.steps.size(); ++place) {
      const step& candidate = of.steps[place];
      if (candidate.pid == record.pid && candidate.id == record.step && candidate.begin_ns <= record.begin_ns) {
        of.step_of_call[index] = place;
      }
    }
  }
}

// A handle's value may have stood for several objects: the name is of the one that lived then.
void bind_names(run& of) {
  const auto bind = [&of](std::uint32_t pid, std::uint64_t handle, std::uint64_t time, const std::string& name,
                          std::string_view kind) {
    const api::kind* wanted = api::find_kind(kind);
    object* best = nullptr;
    for (object& thing : of.book.objects) {
      if (thing.pid != pid || thing.handle != handle || handle == 0 || thing.born == nowhere) continue;
      if (of.calls.events[thing.born].begin_ns > time) continue;
      if (wanted != nullptr && &api::kinds()[thing.kind] != wanted && best != nullptr) continue;
      best = &thing;
    }
    if (best != nullptr && !best->is_named(name)) best->names.push_back(name);
  };
  for (const observed& shown_event : of.showed.events) {
    if (shown_event.what == shown::handle) {
      bind(shown_event.pid, shown_event.handle, shown_event.time_ns, shown_event.name, shown_event.kind);
    }
  }
  if (!of.planned) return;
  for (const plan_handle& handle : of.planned->handles) {
    if (handle.step == 0) continue;
    const std::string& step_name = of.planned->steps[handle.step - 1];
    object* last = nullptr;
    for (object& thing : of.book.objects) {
      if (thing.kind + 1 != handle.kind || thing.born == nowhere) continue;
      const std::size_t place = of.step_of_call[thing.born];
      if (place != nowhere && of.steps[place].name == step_name && of.calls.events[thing.born].succeeded())
        last = &thing;
    }
    if (last != nullptr && !last->is_named(handle.name)) last->names.push_back(handle.name);
  }
}

bool ends_something(const event& call) { return (call.in("destroy") || call.in("free")) && !call.in("create"); }

bool is_cleanup(const event& call, const step* in) {
  return ends_something(call) || call.has(CUFAULT_CALL_RESTORE) || (in != nullptr && in->channel == "implicit");
}

duty owed(const run& of, const failure& failed) {
  const event& call = of.call(failed);
  const step* in = of.step_of(failed);
  if (call.begin_ns >= of.showed.finalizing_ns(call.pid)) return duty::none;
  const bool quiet = failed.code == deinitialized;
  if (in == nullptr) {
    if (!ends_something(call)) return duty::none;
    return quiet ? duty::raise_or_silence : duty::raise_or_report;
  }
  const std::string& channel = in->channel;
  if (channel == "implicit") return quiet ? duty::silence : duty::report;
  if (channel == "either") {
    if (of.by->close == close_way::raises && failed.after == nowhere) return duty::raise;
    if (of.by->close == close_way::reports) return quiet ? duty::silence : duty::report;
    return quiet ? duty::raise_or_silence : duty::raise_or_report;
  }
  const duty loose = quiet ? duty::raise_or_silence : duty::raise_or_report;
  if (channel == "free") {
    // In free code a switch may belong to an operation or to the collection of some object.
    return failed.cleanup || failed.enter ? loose : duty::raise;
  }
  if (failed.after != nowhere) return loose;
  if (in->verb == "deallocate") return duty::raise;
  return ends_something(call) ? loose : duty::raise;
}

void find_failures(run& of) {
  std::map<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>, std::size_t> first;
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& call = of.calls.events[index];
    if (!call.failed() || call.has(CUFAULT_CALL_NESTED) || call.in("passes_through") || of.by->expects(call)) continue;
    failure failed;
    failed.call = index;
    failed.in_step = of.step_of_call[index];
    const step* in = of.step_of(failed);
    // Calls that the scenario itself makes, in the name of a third party, are not the library's.
    if (in != nullptr && in->verb == "foreign_context") continue;
    failed.code = call.given;
    failed.enter = call.has(CUFAULT_CALL_ENTER);
    failed.restore = call.has(CUFAULT_CALL_RESTORE);
    failed.cleanup = is_cleanup(call, in);
    if (failed.in_step != nowhere) {
      const auto [earlier, inserted] = first.try_emplace({failed.in_step, {call.pid, call.thread}}, of.failures.size());
      if (!inserted) failed.after = earlier->second;
    }
    failed.owes = owed(of, failed);
    of.failures.push_back(std::move(failed));
  }
}

}  // namespace

bool step::ends_object() const {
  return verb == "close" || verb == "deallocate" || verb == "drop" || verb == "collect";
}

bool failure::shows_as(channel_use::kind what) const {
  return std::any_of(channels.begin(), channels.end(), [what](const channel_use& use) { return use.what == what; });
}

std::vector<std::size_t> run::exceptions_of(std::size_t in_step) const {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < showed.events.size(); ++index) {
    if (showed.events[index].what == shown::exception && step_at(*this, showed.events[index]) == in_step) {
      found.push_back(index);
    }
  }
  return found;
}

std::vector<const failure*> run::failures_of(std::size_t in_step) const {
  std::vector<const failure*> found;
  for (const failure& failed : failures) {
    if (failed.in_step == in_step) found.push_back(&failed);
  }
  return found;
}

std::uint32_t run::effect_of(const event& call) const {
  if (!planned || call.rule == 0 || call.rule > planned->rules.size()) return 0;
  return planned->rules[call.rule - 1].effect;
}

bool run::effect_fired(std::uint32_t effect) const {
  return std::any_of(calls.events.begin(), calls.events.end(),
                     [&](const event& call) { return call.is_call() && effect_of(call) == effect; });
}

bool run::is_report(const channel_use& use) const {
  const observed& event = showed.events[use.shown];
  switch (use.what) {
    case channel_use::kind::warning:
      return event.error.type == by->report_category && has_class(event.error.mro, by->report_base);
    case channel_use::kind::unraisable:
      return has_class(event.warning_mro, by->report_category);
    case channel_use::kind::report:
      return true;
    case channel_use::kind::exception:
    case channel_use::kind::text:
      return false;
  }
  return false;
}

run assemble(trace calls, observation showed, std::optional<plan> planned, const profile& by) {
  run of;
  of.calls = std::move(calls);
  of.showed = std::move(showed);
  of.planned = std::move(planned);
  of.by = &by;
  of.book = make_ledger(of.calls);
  steps_of_trace(of);
  steps_of_observation(of);
  sort_steps(of);
  place_calls(of);
  bind_names(of);
  find_failures(of);
  attribute(of);
  return of;
}

}  // namespace cufault::judge

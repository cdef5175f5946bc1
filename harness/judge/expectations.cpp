// SPDX-License-Identifier: Apache-2.0
// Compares what a scenario expects with what the run showed. Oracles never come here.
#include <algorithm>
#include <functional>

#include "attribution.h"
#include "nearest.h"
#include "text.h"
#include "verdict.h"

namespace cufault::judge {

namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// Empty if there is a step of that name, else a sentence.
std::string no_such_step(const run& of, const std::string& name) {
  std::vector<std::string_view> known;
  for (const step& candidate : of.steps) {
    if (candidate.name == name) return {};
    known.push_back(candidate.name);
  }
  return "no step '" + name + "' was run" +
         (known.empty() ? std::string() : "; the nearest is '" + std::string(nearest_name(name, known)) + "'");
}

bool in_step(const run& of, const observed& shown_event, const std::string& name) {
  if (name.empty()) return true;
  const std::size_t place = step_at(of, shown_event);
  return place != nowhere && of.steps[place].name == name;
}

bool is_class(const exception_info& error, const std::string& name) {
  return name.empty() || error.type == name || has_class(error.mro, name);
}

// A name of an expectation: a function, a text, or "${handle:s}" for the handle of what the scenario calls s.
bool names(const run& of, std::string_view text, const std::string& name) {
  constexpr std::string_view head = "${handle:";
  if (name.starts_with(head) && name.ends_with('}')) {
    const std::vector<const object*> things = of.book.named(name.substr(head.size(), name.size() - head.size() - 1));
    return std::any_of(things.begin(), things.end(),
                       [&](const object* thing) { return has_number(text, thing->handle); });
  }
  return names_function(text, name) || contains_ignoring_case(text, name);
}

expectation raised(const run& of, const expected_raise& wanted) {
  expectation result;
  result.text = "'" + wanted.step + "' raises " + (wanted.type.empty() ? "" : wanted.type + " ") + wanted.code;
  std::string seen;
  for (const observed& event : of.showed.events) {
    if (event.what != shown::exception || !in_step(of, event, wanted.step)) continue;
    const api::result* code = api::find_result(wanted.code);
    const bool same_code = wanted.code.empty() || (code != nullptr && identifies(event.error, code->value)) ||
                           whole_text(event.error).find(wanted.code) != std::string::npos;
    if (same_code && is_class(event.error, wanted.type)) result.met = true;
    seen = event.error.type + ": " + event.error.message;
  }
  if (!result.met) {
    result.reason = wanted.step.empty() ? "" : no_such_step(of, wanted.step);
    if (result.reason.empty()) result.reason = seen.empty() ? "nothing was raised" : "raised " + shortened(seen, 200);
  }
  return result;
}

expectation reported(const run& of, const expected_report& wanted) {
  expectation result;
  result.text = (wanted.category.empty() ? std::string("a report") : wanted.category) + " names " +
                joined(wanted.names) + (wanted.handle.empty() ? "" : " and the handle of " + wanted.handle) +
                (wanted.count ? ", " + std::to_string(*wanted.count) + " times" : "");
  std::uint64_t count = 0;
  std::string nearest;
  for (const observed& event : of.showed.events) {
    const bool warned = event.what == shown::warning && is_class(event.error, wanted.category);
    const bool escalated =
        event.what == shown::unraisable && !wanted.category.empty() && has_class(event.warning_mro, wanted.category);
    if (!(warned || escalated || event.what == shown::report) || !in_step(of, event, wanted.step)) continue;
    const std::string text = whole_text(event.error);
    nearest = text;
    bool fits = std::all_of(wanted.names.begin(), wanted.names.end(),
                            [&](const std::string& name) { return names(of, text, name); });
    if (!wanted.handle.empty()) fits = fits && names(of, text, "${handle:" + wanted.handle + "}");
    if (fits) ++count;
  }
  result.met = wanted.count ? count == *wanted.count : count > 0;
  if (!result.met) {
    result.reason = "seen " + std::to_string(count) + " times";
    if (count == 0 && !nearest.empty()) result.reason += "; reported instead: " + shortened(nearest, 200);
  }
  return result;
}

expectation silent(const run& of, const std::string& name) {
  expectation result{"'" + name + "' is silent", true, no_such_step(of, name)};
  result.met = result.reason.empty();
  const auto heard = [&result](const std::string& what) {
    result.met = false;
    if (result.reason.empty()) result.reason = shortened(what, 200);
  };
  for (const observed& event : of.showed.events) {
    const bool loud = event.what == shown::exception || event.what == shown::warning ||
                      event.what == shown::unraisable || event.what == shown::report;
    if (loud && in_step(of, event, name)) heard(event.error.type + ": " + event.error.message);
  }
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in == nullptr || in->name != name) continue;
    for (const channel_use& use : failed.channels) {
      if (use.what == channel_use::kind::text) heard("stderr: " + use.line);
    }
  }
  return result;
}

std::string_view state_name(fate state) {
  switch (state) {
    case fate::alive:
      return "alive";
    case fate::destroyed:
      return "destroyed";
    case fate::indeterminate:
      return "indeterminate";
    case fate::died_with_owner:
      return "gone with its owner";
    case fate::replaced:
      return "gone unseen";
  }
  return "";
}

expectation object_is(const run& of, const std::string& name, std::string_view word, fate wanted) {
  expectation result{name + " is " + std::string(word), false, {}};
  const std::vector<const object*> things = of.book.named(name);
  if (things.empty()) result.reason = "no driver object was called '" + name + "'";
  for (const object* thing : things) {
    if (thing->state == wanted) result.met = true;
    result.reason = describe(*thing) + " is " + std::string(state_name(thing->state));
  }
  if (result.met) result.reason.clear();
  return result;
}

expectation context_unchanged(const run& of, const std::string& name) {
  expectation result{"'" + name + "' leaves the current context as it was", false, no_such_step(of, name)};
  if (!result.reason.empty()) return result;
  result.met = true;
  for (const step& in : of.steps) {
    if (in.name != name) continue;
    if (!in.context_begin || !in.context_end) {
      result.met = false;
      result.reason = "the trace does not say which context was current";
    } else if (*in.context_begin != *in.context_end) {
      result.met = false;
      result.reason = hex(*in.context_begin) + " before, " + hex(*in.context_end) + " after";
    }
  }
  return result;
}

expectation ends(const run& of, const std::string& wanted) {
  expectation result{"the process ends " + wanted, false, {}};
  const observed* end = of.showed.exit();
  if (end == nullptr) {
    result.reason = "nobody saw it end";
    return result;
  }
  const bool by_itself = !end->timed_out && end->signal.empty() && end->status.has_value();
  if (wanted == "normally") {
    result.met = by_itself && *end->status == 0;
  } else if (wanted == "timeout") {
    result.met = end->timed_out;
  } else if (wanted == "signal") {
    result.met = !end->timed_out && !end->signal.empty();
  } else {
    result.met = end->signal == wanted || (by_itself && std::to_string(*end->status) == wanted);
  }
  if (!result.met) result.reason = of_exit(of).text;
  return result;
}

}  // namespace

std::vector<expectation> compare(const run& of, const expectations& expect) {
  std::vector<expectation> results;
  for (const expected_raise& wanted : expect.raises) results.push_back(raised(of, wanted));
  for (const expected_report& wanted : expect.reported) results.push_back(reported(of, wanted));
  for (const std::string& name : expect.silent) results.push_back(silent(of, name));
  for (const std::string& name : expect.indeterminate) {
    results.push_back(object_is(of, name, "indeterminate", fate::indeterminate));
  }
  for (const std::string& name : expect.leaked) results.push_back(object_is(of, name, "leaked", fate::alive));
  for (const std::string& name : expect.destroyed) results.push_back(object_is(of, name, "destroyed", fate::destroyed));
  for (const std::string& name : expect.context_unchanged) results.push_back(context_unchanged(of, name));
  if (!expect.ends.empty()) results.push_back(ends(of, expect.ends));
  return results;
}

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// Which exception, warning or line on stderr speaks of which failed call.
#include "attribution.h"

#include <algorithm>
#include <set>

#include "text.h"

namespace cufault::judge {

namespace {

using kind = channel_use::kind;

// Failed calls that a shown event may speak of, as indices into run::failures.
using choices = std::vector<std::size_t>;

std::string_view function_of(const run& of, std::size_t failed) { return of.call(of.failures[failed]).function(); }

// The text names a function that ends objects of a kind, and the failure's step is about such an object: it tells of
// the clean-up that the failed call was part of.
bool is_about_object_of_step(const run& of, std::size_t failed, std::string_view text) {
  const step* in = of.step_of(of.failures[failed]);
  if (in == nullptr || in->object.empty()) return false;
  const std::vector<const object*> things = of.book.named(in->object);
  for (const api::symbol* named : functions_named_in(text)) {
    for (const api::role& role : named->roles) {
      if (role.what != api::verb::destroys && role.what != api::verb::releases) continue;
      const bool fits =
          std::any_of(things.begin(), things.end(), [&role](const object* thing) { return thing->kind == role.kind; });
      if (fits) return true;
    }
  }
  return false;
}

// Of the choices, those whose function the text names; else those of whose step it tells; else all of them.
choices narrowed_by_function(const run& of, std::string_view text, const choices& among) {
  choices named;
  choices told_of;
  for (const std::size_t failed : among) {
    if (names_function(text, function_of(of, failed))) named.push_back(failed);
    if (is_about_object_of_step(of, failed, text)) told_of.push_back(failed);
  }
  if (!named.empty()) return named;
  return told_of.empty() ? among : told_of;
}

bool is_object_of(const run& of, std::size_t failed, std::string_view text) {
  const event& call = of.call(of.failures[failed]);
  if (call.entry == nullptr) return false;
  return std::any_of(call.entry->roles.begin(), call.entry->roles.end(), [&](const api::role& role) {
    const bool ends = role.what == api::verb::destroys || role.what == api::verb::releases;
    return ends && !role.pointer && role.arg < CUFAULT_TRACE_ARGS && call.args[role.arg] > 4096 &&
           has_number(text, call.args[role.arg]);
  });
}

// The one that shows least so far; among equals the one whose handle the text names, then the first.
std::size_t best_of(const run& of, std::string_view text, const choices& among) {
  std::size_t best = nowhere;
  for (const std::size_t failed : among) {
    if (best == nowhere) {
      best = failed;
      continue;
    }
    const std::size_t shows = of.failures[failed].channels.size();
    const std::size_t least = of.failures[best].channels.size();
    const bool same_handle = is_object_of(of, failed, text) && !is_object_of(of, best, text);
    if (same_handle || (shows < least && is_object_of(of, failed, text) == is_object_of(of, best, text))) best = failed;
  }
  return best;
}

void exception_channel(run& of, std::size_t shown_index) {
  const observed& raised = of.showed.events[shown_index];
  const std::size_t in_step = step_at(of, raised);
  choices possible;
  choices identified;
  for (std::size_t index = 0; index < of.failures.size(); ++index) {
    const failure& failed = of.failures[index];
    const event& call = of.call(failed);
    if (call.pid != raised.pid || failed.in_step != in_step || call.begin_ns > raised.time_ns) continue;
    possible.push_back(index);
    if (identifies(raised.error, failed.code)) identified.push_back(index);
  }
  if (possible.empty()) return;
  if (identified.empty()) {
    // It does not say what failed. It is taken for the first failure that had to be raised, or else for the first that
    // shows nowhere yet: the benefit of the doubt, since P02 asks for the name.
    const auto owed_raise = std::find_if(possible.begin(), possible.end(),
                                         [&](std::size_t index) { return of.failures[index].owes == duty::raise; });
    const std::size_t taken = owed_raise == possible.end() ? possible.front() : *owed_raise;
    of.failures[taken].channels.push_back({kind::exception, shown_index, {}, false});
    return;
  }
  // The first failure of each code is what an exception means by it; another of the same code needs its function named.
  const std::string text = whole_text(raised.error);
  std::set<int> meant;
  for (const std::size_t index : identified) {
    failure& failed = of.failures[index];
    const bool first = meant.insert(failed.code).second;
    if (first || names_function(text, function_of(of, index))) {
      failed.channels.push_back({kind::exception, shown_index, {}, true});
    }
  }
}

// Failures before the event: those of its own step, or any earlier one where it came outside of their steps.
choices before(const run& of, const observed& shown_event) {
  const std::size_t in_step = step_at(of, shown_event);
  choices same;
  choices earlier;
  for (std::size_t index = 0; index < of.failures.size(); ++index) {
    const failure& failed = of.failures[index];
    const event& call = of.call(failed);
    if (call.pid != shown_event.pid || call.begin_ns > shown_event.time_ns) continue;
    (failed.in_step == in_step ? same : earlier).push_back(index);
  }
  if (!same.empty()) return same;
  // A report that was put off: only failures that have shown nowhere yet can be meant.
  std::erase_if(earlier, [&](std::size_t index) { return !of.failures[index].channels.empty(); });
  return earlier;
}

void report_channel(run& of, std::size_t shown_index, kind what) {
  const observed& reported = of.showed.events[shown_index];
  const choices possible = before(of, reported);
  const std::string text = whole_text(reported.error);
  choices identified;
  for (const std::size_t index : possible) {
    if (identifies(reported.error, of.failures[index].code)) identified.push_back(index);
  }
  const channel_use use{what, shown_index, {}, !identified.empty()};
  if (identified.empty()) {
    // Without the error's name it may still speak of a call, or be the profile's own kind of report.
    choices named;
    for (const std::size_t index : possible) {
      if (names_function(text, function_of(of, index))) named.push_back(index);
    }
    const bool own_kind = of.is_report(use);
    if (named.empty() && !own_kind && what != kind::unraisable) return;
    const std::size_t best = best_of(of, text, named.empty() ? possible : named);
    if (best == nowhere) return;
    // An unraisable error that says nothing of CUDA is no sign of a failure that shows already.
    if (named.empty() && !of.failures[best].channels.empty()) return;
    of.failures[best].channels.push_back(use);
    return;
  }
  const choices fitting = narrowed_by_function(of, text, identified);
  // One report may tell of several failures, each by its own function.
  std::set<std::string_view> functions;
  for (const std::size_t index : fitting) {
    if (names_function(text, function_of(of, index))) functions.insert(function_of(of, index));
  }
  if (functions.size() <= 1) {
    of.failures[best_of(of, text, fitting)].channels.push_back(use);
    return;
  }
  for (const std::string_view function : functions) {
    choices same;
    for (const std::size_t index : fitting) {
      if (function_of(of, index) == function) same.push_back(index);
    }
    of.failures[best_of(of, text, same)].channels.push_back(use);
  }
}

// pytest and others show an unraisable error or an exception again, as a warning that holds its whole text.
bool is_rendering(const run& of, std::size_t shown_index) {
  const observed& reported = of.showed.events[shown_index];
  for (const observed& other : of.showed.events) {
    if (&other == &reported || other.pid != reported.pid || other.time_ns > reported.time_ns) continue;
    if (other.what != shown::exception && other.what != shown::unraisable) continue;
    if (other.what == reported.what || other.error.message.size() < 12) continue;
    if (reported.error.message.size() > other.error.message.size() &&
        reported.error.message.find(other.error.message) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Lines of stderr that are not how Python, or its fault handler, shows what was observed anyway.
std::vector<std::string> stray_lines(const run& of) {
  std::set<std::string> whole;
  std::vector<std::string> headed;
  const auto learn = [&](const exception_info& error) {
    const std::vector<std::string> lines = lines_of(error.message);
    for (std::size_t index = 0; index < lines.size(); ++index) {
      if (index == 0) headed.push_back(error.type + ": " + lines[index]);
      if (index > 0) whole.insert(std::string(trimmed(lines[index])));
    }
    for (const std::string& note : error.notes) {
      for (const std::string& line : lines_of(note)) whole.insert(std::string(trimmed(line)));
    }
  };
  const auto learn_all = [&](const exception_info& error, const auto& self) -> void {
    learn(error);
    for (const exception_info& linked : error.linked) self(linked, self);
  };
  for (const observed& shown_event : of.showed.events) learn_all(shown_event.error, learn_all);

  std::vector<std::string> stray;
  bool in_traceback = false;
  bool after_warning = false;
  for (const std::string& line : lines_of(of.showed.standard_error())) {
    const std::string_view bare = trimmed(line);
    const bool indented = line.starts_with("  ");
    if (bare.starts_with("Traceback (most recent call last)") || bare.starts_with("Exception ignored ") ||
        bare.starts_with("Fatal Python error") || bare.starts_with("Exception in thread")) {
      in_traceback = true;
      continue;
    }
    // A traceback goes on, indented, to the line with the exception itself.
    if (in_traceback && (indented || bare.empty())) continue;
    const bool explained = std::any_of(headed.begin(), headed.end(), [&](const std::string& text) {
      return text.size() > 2 && bare.find(text) != std::string_view::npos;
    });
    if (in_traceback) {
      in_traceback = false;
      continue;
    }
    if (explained) {
      after_warning = true;
      continue;
    }
    if (after_warning && indented) continue;
    after_warning = false;
    if (bare.empty() || whole.contains(std::string(bare)) || bare.starts_with("cufault")) continue;
    stray.push_back(line);
  }
  return stray;
}

void text_channel(run& of, const std::string& line) {
  choices identified;
  choices named;
  for (std::size_t index = 0; index < of.failures.size(); ++index) {
    if (identifies(line, of.failures[index].code)) identified.push_back(index);
    if (names_function(line, function_of(of, index))) named.push_back(index);
  }
  const choices fitting = identified.empty() ? named : narrowed_by_function(of, line, identified);
  const std::size_t best = best_of(of, line, fitting);
  if (best == nowhere) return;
  std::size_t shown_index = 0;
  for (std::size_t index = 0; index < of.showed.events.size(); ++index) {
    if (of.showed.events[index].what == shown::standard_error) shown_index = index;
  }
  of.failures[best].channels.push_back({kind::text, shown_index, line, !identified.empty()});
}

}  // namespace

std::size_t step_at(const run& of, const observed& shown_event) {
  if (!shown_event.step) return nowhere;
  std::size_t found = nowhere;
  for (std::size_t index = 0; index < of.steps.size(); ++index) {
    const step& candidate = of.steps[index];
    if (candidate.pid != shown_event.pid || candidate.name != *shown_event.step) continue;
    if (found == nowhere || candidate.begin_ns <= shown_event.time_ns) found = index;
  }
  return found;
}

std::string whole_text(const exception_info& error) {
  std::string text = error.type + ": " + error.message;
  for (const std::string& note : error.notes) text += "\n" + note;
  for (const exception_info& linked : error.linked) text += "\n" + whole_text(linked);
  return text;
}

bool identifies(std::string_view text, int code) {
  const api::result* result = api::find_result(code);
  if (result != nullptr) {
    if (has_word(text, result->name) || contains_ignoring_case(text, result->description)) return true;
  }
  return has_error_number(text, static_cast<std::uint64_t>(code));
}

bool identifies(const exception_info& error, int code) {
  if (error.code == code) return true;
  if (identifies(error.type + ": " + error.message, code)) return true;
  for (const std::string& note : error.notes) {
    if (identifies(note, code)) return true;
  }
  return std::any_of(error.linked.begin(), error.linked.end(),
                     [code](const exception_info& linked) { return identifies(linked, code); });
}

void attribute(run& of) {
  for (std::size_t index = 0; index < of.showed.events.size(); ++index) {
    if (of.showed.events[index].what == shown::exception) exception_channel(of, index);
  }
  for (std::size_t index = 0; index < of.showed.events.size(); ++index) {
    const shown what = of.showed.events[index].what;
    if (what != shown::warning && what != shown::unraisable && what != shown::report) continue;
    if (is_rendering(of, index)) continue;
    report_channel(of, index,
                   what == shown::warning      ? kind::warning
                   : what == shown::unraisable ? kind::unraisable
                                               : kind::report);
  }
  of.stray_lines = stray_lines(of);
  for (const std::string& line : of.stray_lines) text_channel(of, line);
}

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// One run, put together for the oracles: steps, failed calls, and the channels in which each of them showed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger.h"
#include "observation.h"
#include "plan.h"
#include "policy.h"
#include "trace.h"

namespace cufault::judge {

// One time that a step was open, as the trace and the observation tell it.
struct step {
  std::uint32_t pid = 0;
  std::string name;
  std::uint32_t id = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // the greatest number while it never ended
  bool closed = false;
  std::uint32_t thread = 0;     // that opened it; 0: not in the trace
  std::size_t first = nowhere;  // index of the record that opened it, and of the one that closed it
  std::size_t last = nowhere;
  std::optional<std::uint64_t> context_begin;
  std::optional<std::uint64_t> context_end;
  std::string verb, object, kind;
  std::string channel = "free";  // raises, implicit, either, free
  bool changes_context = false;
  std::string outcome, reason;  // empty: nobody said

  [[nodiscard]] bool raised() const { return outcome == "raised"; }
  // The step's own business is to end an object.
  [[nodiscard]] bool ends_object() const;
};

// What the library owes to whoever made a failed call necessary.
enum class duty : std::uint8_t {
  raise,             // an exception must leave the step
  report,            // nothing can be raised: a report
  raise_or_report,   // either, and only one
  silence,           // DEINITIALIZED in clean-up
  raise_or_silence,  // DEINITIALIZED where both an exception and silence are right
  none               // nobody can tell (no step), or nothing is asked (finalization)
};

struct channel_use {
  enum class kind : std::uint8_t { exception, warning, unraisable, report, text };
  kind what;
  std::size_t shown;  // index into observation::events; of the parent's stderr event for `text`
  std::string line;   // `text`: the line
  bool identified;    // it says which error it was, by name, description, number or attribute
};

// A call that was answered with an error that the profile does not expect.
struct failure {
  std::size_t call;               // index into trace::events
  std::size_t in_step = nowhere;  // index into run::steps
  int code = 0;
  bool cleanup = false;  // the call ends something, or restores, or belongs to an implicit step
  bool enter = false;
  bool restore = false;
  std::size_t after = nowhere;  // index into run::failures: the first earlier one of the same step and thread
  duty owes = duty::none;
  std::vector<channel_use> channels;

  [[nodiscard]] bool shows_as(channel_use::kind what) const;
};

struct run {
  trace calls;
  observation showed;
  ledger book;
  std::optional<plan> planned;
  const profile* by = nullptr;

  std::vector<step> steps;                // in order of time
  std::vector<failure> failures;          // in order of time
  std::vector<std::size_t> step_of_call;  // for each event of the trace: index into steps, or nowhere
  std::vector<std::string> stray_lines;   // stderr without what Python itself shows of exceptions and warnings

  [[nodiscard]] const event& call(const failure& of) const { return calls.events[of.call]; }
  [[nodiscard]] const step* step_of(const failure& of) const {
    return of.in_step == nowhere ? nullptr : &steps[of.in_step];
  }
  // The exceptions that left that step.
  [[nodiscard]] std::vector<std::size_t> exceptions_of(std::size_t in_step) const;
  [[nodiscard]] std::vector<const failure*> failures_of(std::size_t in_step) const;
  // What the plan's rule does that made this call fail; 0 where no plan or no rule is known.
  [[nodiscard]] std::uint32_t effect_of(const event& call) const;
  // The rule with that effect fired somewhere in the run.
  [[nodiscard]] bool effect_fired(std::uint32_t effect) const;
  // The report of the profile: its category and base, or a C++ library's report.
  [[nodiscard]] bool is_report(const channel_use& use) const;
};

// The pieces put together. `by` must outlive the run.
[[nodiscard]] run assemble(trace calls, observation showed, std::optional<plan> planned, const profile& by);

// All of an exception: messages, notes and attached codes, with its causes and contexts.
[[nodiscard]] std::string whole_text(const exception_info& error);

// The text says that it was this error: its name, its description, or a number that stands for it.
[[nodiscard]] bool identifies(std::string_view text, int code);
// The same, or an attribute of the exception or of one in its chain is the code.
[[nodiscard]] bool identifies(const exception_info& error, int code);

}  // namespace cufault::judge

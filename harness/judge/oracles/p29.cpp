// SPDX-License-Identifier: Apache-2.0
// P29: a driver function that is missing gives a clear error, and leaves no exception pending.
#include <cufault/plan_format.h>

#include "../attribution.h"
#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

struct hidden {
  std::string function;
  evidence proof;
};

// Functions that the plan hides, once somebody had asked for them or had called them.
std::vector<hidden> hidden_functions(const run& of) {
  std::vector<hidden> found;
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& record = of.calls.events[index];
    if (record.type == CUFAULT_RECORD_LOOKUP && record.kind == CUFAULT_LOOKUP_HIDDEN) {
      const api::symbol* entry = api::find_symbol(record.text);
      evidence proof;
      proof.what = "call";
      proof.text = "cuGetProcAddress(\"" + record.text + "\") -> not found";
      proof.pid = record.pid;
      proof.thread = record.thread;
      proof.sequence = record.sequence;
      proof.time_ns = record.begin_ns;
      found.push_back({entry == nullptr ? record.text : std::string(entry->function), std::move(proof)});
    } else if (record.is_call() && of.effect_of(record) == CUFAULT_EFFECT_MISSING) {
      found.push_back({std::string(record.function()), of_call(of, index)});
    }
  }
  return found;
}

bool left_pending(const exception_info& error) {
  return error.type == "SystemError" && contains_ignoring_case(error.message, "exception set");
}

}  // namespace

finding p29(const run& of) {
  constexpr int not_found = 500;
  finder found(author::U, "no missing function was needed");
  const std::vector<hidden> missing = hidden_functions(of);
  if (missing.empty()) return found.result({});
  for (std::size_t index = 0; index < of.showed.events.size(); ++index) {
    const observed& event = of.showed.events[index];
    const bool loud = event.what == shown::exception || event.what == shown::warning ||
                      event.what == shown::unraisable || event.what == shown::report;
    if (!loud) continue;
    const std::size_t place = step_at(of, event);
    // Another failed call of the same step explains it.
    if (place != nowhere && !of.failures_of(place).empty() &&
        of.effect_of(of.call(*of.failures_of(place).front())) != CUFAULT_EFFECT_MISSING) {
      continue;
    }
    const std::string text = whole_text(event.error);
    if (left_pending(event.error)) {
      found.violated("an exception was left pending by a missing function",
                     {missing.front().proof, of_shown(of, index)}, event.time_ns);
      continue;
    }
    bool clear = identifies(event.error, not_found);
    for (const hidden& one : missing) clear = clear || names_function(text, one.function);
    if (clear) {
      found.exercised(of_shown(of, index));
    } else if (event.what == shown::exception) {
      found.violated("the exception names neither a missing function nor CUDA_ERROR_NOT_FOUND",
                     {missing.front().proof, of_shown(of, index)}, event.time_ns);
    }
  }
  return found.result("each missing function that was needed gave a clear error");
}

}  // namespace cufault::judge::oracles

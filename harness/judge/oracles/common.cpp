// SPDX-License-Identifier: Apache-2.0
// The table of oracles, and what several of them ask.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge {

std::span<const oracle> all_oracles() {
  static constexpr oracle table[] = {
      {"P01", oracles::p01}, {"P02", oracles::p02}, {"P03", oracles::p03}, {"P04", oracles::p04}, {"P05", oracles::p05},
      {"P06", oracles::p06}, {"P07", oracles::p07}, {"P08", oracles::p08}, {"P09", oracles::p09}, {"P10", oracles::p10},
      {"P11", oracles::p11}, {"P12", oracles::p12}, {"P13", oracles::p13}, {"P14", oracles::p14}, {"P15", oracles::p15},
      {"P16", oracles::p16}, {"P17", oracles::p17}, {"P18", oracles::p18}, {"P20", oracles::p20}, {"P21", oracles::p21},
      {"P22", oracles::p22}, {"P24", oracles::p24}, {"P25", oracles::p25}, {"P26", oracles::p26}, {"P29", oracles::p29},
  };
  return table;
}

namespace oracles {

bool ends_something(const event& call) { return (call.in("destroy") || call.in("free")) && !call.in("create"); }

bool switches_context(const event& call) {
  if (!call.is_call() || call.entry == nullptr) return false;
  switch (call.entry->switching) {
    case api::switches::set:
    case api::switches::push:
    case api::switches::pop:
      return true;
    case api::switches::none:
    case api::switches::create:
    case api::switches::destroy:
      return false;
  }
  return false;
}

std::uint64_t end_of_handling(const run& of, std::size_t in_step) {
  const step& in = of.steps[in_step];
  for (std::size_t later = in_step + 1; later < of.steps.size(); ++later) {
    if (of.steps[later].pid == in.pid) return of.steps[later].begin_ns;
  }
  const std::uint64_t finalizing = of.showed.finalizing_ns(in.pid);
  return finalizing == ~std::uint64_t{0} ? in.end_ns : finalizing;
}

bool updates_node(const event& call) {
  if (!call.is_call() || call.open || call.entry == nullptr) return false;
  const std::string_view function = call.function();
  return function.starts_with("cuGraph") && (function.ends_with("NodeSetParams") || function.ends_with("NodeSetEvent"));
}

namespace {

bool updated_a_node(const run& of, std::size_t in_step) {
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    if (of.step_of_call[index] == in_step && updates_node(of.calls.events[index]) &&
        of.calls.events[index].happened()) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<const object*> left_over(const run& of, std::size_t in_step) {
  const std::uint64_t until = end_of_handling(of, in_step);
  const bool published = updated_a_node(of, in_step);
  std::vector<const object*> found;
  for (const object& thing : of.book.objects) {
    if (thing.born == nowhere || of.step_of_call[thing.born] != in_step) continue;
    if (!api::kinds()[thing.kind].owned || thing.kind_name() == "primary_context") continue;
    if (published && thing.kind_name() == "user_object") continue;
    if (thing.died != nowhere && of.calls.events[thing.died].begin_ns <= until) continue;
    found.push_back(&thing);
  }
  return found;
}

void require_beside(const run& of, const failure& failed, finder& found) {
  constexpr int deinitialized = 4;
  const event& call = of.call(failed);
  if (failed.channels.empty()) {
    if (failed.code == deinitialized) return;
    if (of.showed.program_filters_warnings(call.pid)) {
      found.doubt("the program's own warning filter may have hidden the report of " + call.name);
    } else {
      found.violated("the failure of " + call.name + " does not show beside the exception", {of_call(of, failed)},
                     settled_ns(of, failed));
    }
    return;
  }
  const bool reported = std::any_of(failed.channels.begin(), failed.channels.end(),
                                    [&of](const channel_use& use) { return of.is_report(use); });
  for (const channel_use& use : failed.channels) {
    // The exception may mention it as well: only a note in place of the report is a question of the profile.
    const bool note = use.what == channel_use::kind::exception;
    const bool right =
        note ? reported || of.by->beside != beside_way::report : of.is_report(use) && of.by->beside != beside_way::note;
    if (right) continue;
    found.violated("the failure of " + call.name + " shows beside the exception as " +
                       (note ? "a note" : of_channel(of, use).what),
                   {of_call(of, failed), of_channel(of, use)}, settled_ns(of, failed));
  }
}

}  // namespace oracles
}  // namespace cufault::judge

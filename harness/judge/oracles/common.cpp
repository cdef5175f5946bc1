// SPDX-License-Identifier: Apache-2.0
// The table of oracles, and what several of them ask.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge {

std::span<const oracle> all_oracles() {
  static constexpr oracle table[] = {
      {"P01", oracles::p01}, {"P02", oracles::p02}, {"P04", oracles::p04}, {"P05", oracles::p05},
      {"P08", oracles::p08}, {"P09", oracles::p09}, {"P12", oracles::p12}, {"P15", oracles::p15},
      {"P16", oracles::p16}, {"P17", oracles::p17}, {"P18", oracles::p18}, {"P20", oracles::p20},
      {"P21", oracles::p21}, {"P24", oracles::p24}, {"P25", oracles::p25}, {"P26", oracles::p26},
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

std::vector<const object*> left_over(const run& of, std::size_t in_step) {
  const std::uint64_t until = end_of_handling(of, in_step);
  std::vector<const object*> found;
  for (const object& thing : of.book.objects) {
    if (thing.born == nowhere || of.step_of_call[thing.born] != in_step) continue;
    if (!api::kinds()[thing.kind].owned || thing.kind_name() == "primary_context") continue;
    if (thing.died != nowhere && of.calls.events[thing.died].begin_ns <= until) continue;
    found.push_back(&thing);
  }
  return found;
}

}  // namespace oracles
}  // namespace cufault::judge

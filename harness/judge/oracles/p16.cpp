// SPDX-License-Identifier: Apache-2.0
// P16: leak rather than dangle.
#include <algorithm>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

std::string wrong(incident::what kind) {
  switch (kind) {
    case incident::what::use_after_destroy:
      return " was used after it was destroyed";
    case incident::what::double_destroy:
      return " was destroyed twice";
    case incident::what::destroy_of_indeterminate:
      return " was destroyed again although its ownership was unknown";
    case incident::what::release_of_too_many:
      return " was released more often than it was retained";
  }
  return {};
}

bool by_third_party(const run& of, std::size_t call) {
  const std::size_t place = of.step_of_call[call];
  return place != nowhere && of.steps[place].verb == "foreign_context";
}

bool is_dangling(std::uint32_t misuse) {
  return misuse == CUFAULT_MISUSE_USE_AFTER_DESTROY || misuse == CUFAULT_MISUSE_DOUBLE_DESTROY ||
         misuse == CUFAULT_MISUSE_WRONG_CONTEXT || misuse == CUFAULT_MISUSE_FOREIGN_POINTER ||
         misuse == CUFAULT_MISUSE_GARBAGE_HANDLE || misuse == CUFAULT_MISUSE_WOULD_CRASH;
}

// What the simulated driver saw, unless the ledger saw it in the same call, or it is the restoring of a context that
// somebody else destroyed, which is expected.
void misuse_of_driver(const run& of, finder& found) {
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& record = of.calls.events[index];
    if (record.type != CUFAULT_RECORD_MISUSE || !is_dangling(record.kind) || by_third_party(of, index)) continue;
    const bool switching = record.entry != nullptr && (record.entry->switching == api::switches::set ||
                                                       record.entry->switching == api::switches::push);
    if (switching) continue;
    const bool known = std::any_of(of.book.incidents.begin(), of.book.incidents.end(), [&](const incident& seen) {
      const event& call = of.calls.events[seen.call];
      return call.pid == record.pid && call.thread == record.thread && call.begin_ns <= record.begin_ns &&
             record.begin_ns <= call.end_ns;
    });
    if (known) continue;
    evidence proof;
    proof.what = "call";
    proof.text = record.name + ": " + record.text;
    proof.pid = record.pid;
    proof.thread = record.thread;
    proof.sequence = record.sequence;
    proof.time_ns = record.begin_ns;
    proof.symbol = record.name;
    found.violated("the driver reports misuse: " + record.text, {std::move(proof)}, record.begin_ns);
  }
}

// An object that a step was to end, was disturbed in ending, left alone, and said nothing about.
void skipped_in_silence(const run& of, std::size_t place, finder& found) {
  constexpr int deinitialized = 4;
  const step& in = of.steps[place];
  const std::vector<const failure*> failed = of.failures_of(place);
  if (failed.empty() || !in.ends_object() || in.object.empty() || !in.closed) return;
  const bool told = std::any_of(failed.begin(), failed.end(), [&](const failure* one) {
    return !one->channels.empty() || one->code == deinitialized || of.showed.program_filters_warnings(in.pid);
  });
  for (const object* thing : of.book.named(in.object)) {
    if (thing->pid != in.pid || thing->state != fate::alive || !thing->attempts.empty()) continue;
    found.exercised(of_object(of, *thing));
    if (told) continue;
    found.violated(describe(*thing) + " was left alive by '" + in.name + "' without a word",
                   {of_call(of, *failed.front()), of_object(of, *thing)}, in.end_ns);
  }
}

}  // namespace

finding p16(const run& of) {
  finder found(author::R, "no driver object was to be destroyed");
  for (const object& thing : of.book.objects) {
    if (!thing.attempts.empty()) found.exercised(of_call(of, thing.attempts.front()));
  }
  for (const incident& seen : of.book.incidents) {
    if (by_third_party(of, seen.call)) continue;
    const object& thing = of.book.objects[seen.thing];
    std::vector<evidence> proof = {of_object(of, thing)};
    for (const std::size_t attempt : thing.attempts) {
      if (attempt < seen.call) proof.push_back(of_call(of, attempt));
    }
    proof.push_back(of_call(of, seen.call));
    found.violated(describe(thing) + wrong(seen.kind), std::move(proof), of.calls.events[seen.call].begin_ns);
  }
  misuse_of_driver(of, found);
  for (std::size_t place = 0; place < of.steps.size(); ++place) skipped_in_silence(of, place, found);
  return found.result("no object was used or destroyed after its end");
}

}  // namespace cufault::judge::oracles

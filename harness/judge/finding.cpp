// SPDX-License-Identifier: Apache-2.0
// How findings are collected, and how evidence is put into words.
#include "finding.h"

#include <algorithm>
#include <limits>

#include "text.h"

namespace cufault::judge {

namespace {

constexpr std::size_t most_proof = 8;  // a finding is read by people: the verdict's timeline has the rest

std::string step_name(const run& of, std::size_t call) {
  const std::size_t place = of.step_of_call[call];
  return place == nowhere ? std::string() : of.steps[place].name;
}

}  // namespace

void finder::exercised(evidence proof) {
  ++exercised_;
  if (proof_.size() < most_proof) proof_.push_back(std::move(proof));
}

void finder::violated(std::string reason, std::vector<evidence> proof, std::uint64_t established_ns) {
  violated(by_, std::move(reason), std::move(proof), established_ns);
}

void finder::violated(author by, std::string reason, std::vector<evidence> proof, std::uint64_t established_ns) {
  ++exercised_;
  problems_.push_back({by, std::move(reason), std::move(proof), established_ns});
}

void finder::doubt(std::string reason) {
  ++exercised_;
  if (doubt_.empty()) doubt_ = std::move(reason);
}

finding finder::result(std::string holds) const {
  finding found;
  found.problems = problems_;
  found.proof = proof_;
  if (!problems_.empty()) {
    found.status = outcome::violated;
    found.reason = problems_.front().reason;
    if (problems_.size() > 1) found.reason += " (and " + std::to_string(problems_.size() - 1) + " more)";
  } else if (!doubt_.empty()) {
    found.status = outcome::inconclusive;
    found.reason = doubt_;
  } else if (exercised_ == 0) {
    found.status = outcome::not_exercised;
    found.reason = unexercised_;
  } else {
    found.status = outcome::holds;
    found.reason = std::move(holds);
  }
  return found;
}

evidence of_call(const run& of, std::size_t index) {
  const event& call = of.calls.events[index];
  return {"call",        render(call, of.calls), call.pid, call.thread, call.sequence,
          call.begin_ns, step_name(of, index),   call.name};
}

evidence of_call(const run& of, const failure& failed) { return of_call(of, failed.call); }

evidence of_shown(const run& of, std::size_t index) {
  const observed& event = of.showed.events[index];
  evidence made;
  made.pid = event.pid;
  made.time_ns = event.time_ns;
  made.step = event.step.value_or("");
  made.text = shortened(whole_text(event.error), 600);
  switch (event.what) {
    case shown::exception:
      made.what = "exception";
      break;
    case shown::warning:
      made.what = "warning";
      break;
    case shown::unraisable:
      made.what = "unraisable";
      break;
    default:
      made.what = "text";
      break;
  }
  return made;
}

evidence of_channel(const run& of, const channel_use& use) {
  if (use.what != channel_use::kind::text) return of_shown(of, use.shown);
  evidence made;
  made.what = "stderr";
  made.text = shortened(use.line, 600);
  return made;
}

evidence of_object(const run& of, const object& thing) {
  evidence made;
  made.what = "object";
  made.text = describe(thing);
  made.pid = thing.pid;
  if (thing.born != nowhere) {
    const event& birth = of.calls.events[thing.born];
    made.text += ", made by " + render(birth, of.calls);
    made.thread = birth.thread;
    made.sequence = birth.sequence;
    made.time_ns = birth.begin_ns;
    made.step = step_name(of, thing.born);
    made.symbol = birth.name;
  }
  return made;
}

evidence of_step(const step& in, std::string text) {
  evidence made;
  made.what = "text";
  made.text = std::move(text);
  made.pid = in.pid;
  made.thread = in.thread;
  made.time_ns = in.begin_ns;
  made.step = in.name;
  return made;
}

evidence of_exit(const run& of) {
  evidence made;
  made.what = "exit";
  const observed* end = of.showed.exit();
  if (end == nullptr) {
    made.text = "nobody saw the process end";
    return made;
  }
  made.pid = end->pid;
  made.time_ns = end->time_ns;
  if (end->timed_out) {
    made.text = "ended by the runner after its time limit";
  } else if (!end->signal.empty()) {
    made.text = "ended by " + end->signal;
  } else {
    made.text = "exit status " + (end->status ? std::to_string(*end->status) : std::string("unknown"));
  }
  return made;
}

std::uint64_t settled_ns(const run& of, const failure& failed) {
  const step* in = of.step_of(failed);
  if (in != nullptr && in->closed) return in->end_ns;
  return std::numeric_limits<std::uint64_t>::max();
}

bool cut_short(const run& of, const failure& failed) {
  const step* in = of.step_of(failed);
  if (in != nullptr && in->closed) return false;
  const observed* end = of.showed.exit();
  if (end == nullptr || end->timed_out || !end->signal.empty()) return true;
  return in != nullptr;
}

const oracle* find_oracle(std::string_view rule) {
  for (const oracle& candidate : all_oracles()) {
    if (candidate.rule == rule) return &candidate;
  }
  return nullptr;
}

}  // namespace cufault::judge

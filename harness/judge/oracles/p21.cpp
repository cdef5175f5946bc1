// SPDX-License-Identifier: Apache-2.0
// P21: no CUDA error terminates the process.
#include <cufault/plan_format.h>

#include <algorithm>
#include <array>

#include "../text.h"
#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// Also what a shell makes of a signal: 128 and its number.
std::string deadly_signal(const observed& end) {
  constexpr std::array<std::string_view, 7> deadly = {"SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL",
                                                      "SIGFPE",  "SIGTRAP", "SIGSYS"};
  if (std::find(deadly.begin(), deadly.end(), end.signal) != deadly.end()) return end.signal;
  if (!end.signal.empty() || !end.status) return {};
  switch (*end.status) {
    case 134:
      return "SIGABRT";
    case 139:
      return "SIGSEGV";
    case 135:
      return "SIGBUS";
    case 132:
      return "SIGILL";
    case 136:
      return "SIGFPE";
    default:
      return {};
  }
}

std::size_t open_call(const run& of) {
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    if (of.calls.events[index].is_call() && of.calls.events[index].open) return index;
  }
  return nowhere;
}

// A step with a failed call that never ended, in a process that ended by itself and without an exception.
const failure* left_in_the_middle(const run& of) {
  const auto unhandled = [&](std::uint32_t pid) {
    return std::any_of(of.showed.events.begin(), of.showed.events.end(), [pid](const observed& event) {
      return event.what == shown::exception && event.pid == pid && !event.handled;
    });
  };
  for (const failure& failed : of.failures) {
    const step* in = of.step_of(failed);
    if (in != nullptr && !in->closed && !in->verb.empty() && !unhandled(in->pid)) return &failed;
  }
  return nullptr;
}

evidence last_words(const run& of) {
  evidence made;
  made.what = "stderr";
  const std::vector<std::string> lines = lines_of(of.showed.standard_error());
  for (std::size_t index = lines.size() > 5 ? lines.size() - 5 : 0; index < lines.size(); ++index) {
    made.text += (made.text.empty() ? "" : "\n") + shortened(lines[index], 200);
  }
  return made;
}

}  // namespace

finding p21(const run& of) {
  finder found(author::R, "no call failed");
  const observed* end = of.showed.exit();
  if (of.failures.empty() && (end == nullptr || deadly_signal(*end).empty())) return found.result({});
  if (end == nullptr) {
    found.doubt("nobody saw how the process ended");
  } else if (end->timed_out) {
    found.doubt("the runner ended the process after its time limit");
  } else if (const std::string signal = deadly_signal(*end); !signal.empty()) {
    const bool third_party =
        of.effect_fired(CUFAULT_EFFECT_DESTROY_CONTEXT) || of.effect_fired(CUFAULT_EFFECT_RESET_PRIMARY);
    if (of.failures.empty()) {
      found.doubt("the process died of " + signal + ", and no call had failed");
    } else if (third_party && open_call(of) != nowhere) {
      found.doubt("the driver itself crashed on a context that a third party had destroyed");
    } else {
      std::vector<evidence> proof = {of_call(of, of.failures.back()), of_exit(of)};
      if (open_call(of) != nowhere) proof.push_back(of_call(of, open_call(of)));
      proof.push_back(last_words(of));
      found.violated("the process died of " + signal + " after " + of.call(of.failures.back()).name + " had failed",
                     std::move(proof), end->time_ns);
    }
  } else if (!end->signal.empty()) {
    found.doubt("somebody ended the process with " + end->signal);
  } else if (const failure* failed = left_in_the_middle(of); failed != nullptr) {
    found.violated("the process exited in the middle of '" + of.step_of(*failed)->name + "', whose " +
                       of.call(*failed).name + " had failed",
                   {of_call(of, *failed), of_exit(of)}, end->time_ns);
  } else {
    found.exercised(of_exit(of));
  }
  return found.result("the process outlived every failed call");
}

}  // namespace cufault::judge::oracles

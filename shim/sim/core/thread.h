// SPDX-License-Identifier: Apache-2.0
// What the driver keeps for each thread of the application: its stack of contexts and its modes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

struct Context;

enum class Callback : std::uint8_t {
  none,
  stream_callback,  // of cuStreamAddCallback: some calls work (recorded: launch_callback_calls_driver)
  host_function,    // of cuLaunchHostFunc and graphs: calls answer NOT_PERMITTED (recorded: host_callback_calls_cuda)
};

struct Thread {
  std::uint64_t ordinal = 0;
  std::vector<std::shared_ptr<Context>> stack;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  Callback callback = Callback::none;
  // Set while a _ptsz or _ptds variant runs: the null stream is the thread's own.
  bool null_is_per_thread = false;
  // Functions of the application that the call under way owes: run on this thread once the driver's lock is given up.
  std::vector<std::function<void()>> owed;
};

// The calling thread's record. It outlives the thread's C++ thread_local objects, whose destructors may call the driver.
[[nodiscard]] Thread& this_thread();

// Runs what the thread owes, as a callback in which no driver call works. Needs the driver's lock not to be held.
void pay(Thread& thread);

// For the length of a _ptsz or _ptds variant.
class PerThreadDefault {
 public:
  PerThreadDefault() : thread_(this_thread()), before_(thread_.null_is_per_thread) { thread_.null_is_per_thread = true; }
  ~PerThreadDefault() { thread_.null_is_per_thread = before_; }
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;

 private:
  Thread& thread_;
  bool before_;
};

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Events: a recorded place in a stream.
#pragma once

#include <cstdint>
#include <memory>

#include "context/owned.h"
#include "core/handles.h"
#include "stream/engine.h"

namespace cufault::sim {

class Call;
struct Capture;
struct Stream;

struct Event : Owned {
  static constexpr Kind kKind = Kind::event;

  Event(const std::shared_ptr<Context>& owner, unsigned wanted_flags) : Owned(owner), flags(wanted_flags) {}

  [[nodiscard]] bool recorded() const noexcept { return time != nullptr; }
  [[nodiscard]] bool done() const noexcept { return point.reached(); }

  const unsigned flags;
  Point point;
  // When the place was reached, in ns of CLOCK_MONOTONIC; each recording has its own.
  std::shared_ptr<std::int64_t> time;
};

// Records into the stream, in order with its work.
void record(Driver& driver, Event& event, const std::shared_ptr<Stream>& stream);
// Makes the stream's later work wait for what the event has recorded by now.
void wait_event(Driver& driver, const Event& event, const std::shared_ptr<Stream>& stream);

}  // namespace cufault::sim

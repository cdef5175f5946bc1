// SPDX-License-Identifier: Apache-2.0
// Events: a recorded place in a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "context/owned.h"
#include "core/handles.h"
#include "stream/engine.h"

namespace cufault::sim {

class Arena;
class Call;
struct Capture;
class Driver;
struct Node;
struct SharedSlot;
struct Stream;

struct Event : Owned {
  static constexpr Kind kKind = Kind::event;

  Event(const std::shared_ptr<Context>& owner, unsigned wanted_flags) : Owned(owner), flags(wanted_flags) {}

  ~Event() override;

  [[nodiscard]] bool recorded() const noexcept { return time != nullptr || (shared != nullptr && shared_recorded() != 0); }
  [[nodiscard]] std::uint64_t shared_recorded() const noexcept;
  // From now on its state is seen by other processes.
  void share(std::shared_ptr<Arena> arena, SharedSlot* slot, std::uint64_t id, int index, bool owner);
  [[nodiscard]] bool done() const noexcept;

  const unsigned flags;
  void* self = nullptr;
  std::vector<Point> points;  // one, or one for each stream of a context (cuCtxRecordEvent)
  // When the place was reached, in ns of CLOCK_MONOTONIC; each recording has its own.
  std::shared_ptr<std::int64_t> time;
  // Where in a capture it was recorded, if that was the last recording.
  std::weak_ptr<Capture> captured;
  std::vector<Node*> captured_nodes;
  // Of an event shared between processes.
  std::shared_ptr<Arena> shared_arena;
  SharedSlot* shared = nullptr;
  std::uint64_t shared_id = 0;
  int shared_index = -1;
  bool shared_owner = false;
  bool captured_ended = false;  // that was the last recording; the capture may be over
};

// Records into the stream, in order with its work.
void record(Driver& driver, Event& event, const std::shared_ptr<Stream>& stream);
// Makes the stream's later work wait for what the event has recorded by now.
void wait_event(Driver& driver, const Event& event, const std::shared_ptr<Stream>& stream);

// The same for all streams of a context.
void record_context(Driver& driver, Event& event, const Context& context);
void wait_in_context(const Event& event, Context& context);

}  // namespace cufault::sim

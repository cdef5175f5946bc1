// SPDX-License-Identifier: Apache-2.0
// Recording and waiting.
#include "event/event.h"

#include <algorithm>
#include <chrono>

#include "context/context.h"
#include "core/driver.h"
#include "memory/arena.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Event::~Event() {
  if (shared_owner) shared->id = 0;
}

std::uint64_t Event::shared_recorded() const noexcept { return shared->recorded; }

void Event::share(std::shared_ptr<Arena> arena, SharedSlot* slot, std::uint64_t id, int index, bool owner) {
  shared_arena = std::move(arena);
  shared = slot;
  shared_id = id;
  shared_index = index;
  shared_owner = owner;
}

bool Event::done() const noexcept {
  if (shared != nullptr) return shared->completed >= shared->recorded;
  return std::all_of(points.begin(), points.end(), [](const Point& point) { return point.reached(); });
}

void record(Driver& driver, Event& event, const std::shared_ptr<Stream>& stream) {
  auto time = std::make_shared<std::int64_t>(0);
  Operation operation;
  operation.run = [time] { *time = now(); };
  if (event.shared != nullptr) {
    const std::uint64_t place = ++event.shared->recorded;
    operation.run = [time, place, slot = event.shared, arena = event.shared_arena] {
      *time = now();
      std::uint64_t before = slot->completed;
      while (before < place && !slot->completed.compare_exchange_weak(before, place)) {
      }
    };
  }
  event.time = std::move(time);
  event.points = {submit(driver, stream, std::move(operation))};
}

void record_context(Driver& driver, Event& event, const Context& context) {
  event.time = std::make_shared<std::int64_t>(now());
  event.points.clear();
  for (const auto& stream : driver.engine.busy())
    if (stream->context.get() == &context) event.points.push_back({stream, stream->submitted});
}

void wait_in_context(const Event& event, Context& context) {
  for (const Point& point : event.points)
    if (!point.reached()) context.waits.push_back(point);
}

void wait_event(Driver& driver, const Event& event, const std::shared_ptr<Stream>& stream) {
  if (!event.recorded() || event.done()) return;
  Operation operation;
  operation.after = event.points;
  if (event.shared != nullptr)
    operation.condition = [place = event.shared->recorded.load(), slot = event.shared, arena = event.shared_arena] {
      return slot->completed >= place;
    };
  submit(driver, stream, std::move(operation));
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Recording and waiting.
#include "event/event.h"

#include <chrono>

#include "core/driver.h"
#include "stream/stream.h"

namespace cufault::sim {

void record(Driver& driver, Event& event, const std::shared_ptr<Stream>& stream) {
  auto time = std::make_shared<std::int64_t>(0);
  Operation operation;
  operation.run = [time] {
    *time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  event.time = std::move(time);
  event.point = submit(driver, stream, std::move(operation));
}

void wait_event(Driver& driver, const Event& event, const std::shared_ptr<Stream>& stream) {
  if (!event.recorded() || event.done()) return;
  Operation operation;
  operation.after.push_back(event.point);
  submit(driver, stream, std::move(operation));
}

}  // namespace cufault::sim

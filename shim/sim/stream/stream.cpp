// SPDX-License-Identifier: Apache-2.0
// Which stream a handle means, and the order between streams of one context.
#include "stream/stream.h"

#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "core/driver.h"
#include "device/device.h"
#include "memory/pool.h"

namespace cufault::sim {

Stream::Stream(const std::shared_ptr<Context>& owner, Role what, unsigned wanted_flags, int wanted_priority)
    : Owned(owner), role(what), flags(wanted_flags), priority(wanted_priority), id(Driver::get().next_id()) {}

std::shared_ptr<Stream> stream_of(const Call& call, CUstream handle) {
  const bool own = handle == CU_STREAM_PER_THREAD || (handle == nullptr && call.thread.null_is_per_thread);
  if (own) return call.current()->thread_stream(call.thread.ordinal);
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return call.current()->legacy_stream();
  auto stream = call.use<Stream>(handle);
  stream->require_context();
  return stream;
}

Point submit(Driver& driver, const std::shared_ptr<Stream>& stream, Operation operation) {
  if (stream->role == Stream::Role::legacy) {
    for (const auto& other : driver.engine.busy())
      if (other->context == stream->context && other->blocking()) operation.after.push_back({other, other->submitted});
  } else if (stream->blocking()) {
    const auto legacy = stream->context->legacy_stream();
    if (!legacy->idle()) operation.after.push_back({legacy, legacy->submitted});
  }
  auto& waits = stream->context->waits;
  std::erase_if(waits, [](const Point& point) { return point.reached(); });
  operation.after.insert(operation.after.end(), waits.begin(), waits.end());
  return {stream, driver.engine.submit(stream, std::move(operation))};
}

void wait_for(Call& call, const Point& point) {
  if (!point.reached()) call.wait([&] { return point.reached(); });
  call.require_no_fault();
  if (point.stream != nullptr) trim_pools(point.stream->context->device);
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Streams: an order of work in a context.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "context/owned.h"
#include "core/handles.h"
#include "stream/engine.h"

namespace cufault::sim {

class Call;
struct Capture;

struct Stream : Owned {
  static constexpr Kind kKind = Kind::stream;
  enum class Role : std::uint8_t { created, legacy, per_thread };

  Stream(const std::shared_ptr<Context>& owner, Role what, unsigned wanted_flags, int wanted_priority);

  // Waits for, and is waited for by, the legacy stream of its context.
  [[nodiscard]] bool blocking() const noexcept { return role != Role::legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
  [[nodiscard]] bool idle() const noexcept { return completed == submitted; }

  const Role role;
  const unsigned flags;
  const int priority;
  const std::uint64_t id;
  std::map<int, CUstreamAttrValue> attributes;

  std::deque<Operation> queue;
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::shared_ptr<Capture> capture;
};

// The stream a handle means: a created one, or the legacy or per-thread one of the current context. Refuses with
// INVALID_CONTEXT, CONTEXT_IS_DESTROYED or INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Stream> stream_of(const Call& call, CUstream handle);

// Submits driver-side work, ordered against the legacy stream where the two block each other.
Point submit(Driver& driver, const std::shared_ptr<Stream>& stream, Operation operation);

// Waits until a point is reached; refuses with a kernel's fault.
void wait_for(Call& call, const Point& point);

}  // namespace cufault::sim

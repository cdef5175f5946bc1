// SPDX-License-Identifier: Apache-2.0
// Stream capture: what a capturing stream does with work, and which calls end a capture.
#pragma once

#include <memory>
#include <vector>

#include "core/api.h"
#include "graph/graph.h"

namespace cufault::sim {

class Call;
class Driver;
struct Event;
struct Pool;
struct Stream;

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::uint64_t thread = 0;
  bool invalidated = false;
  std::shared_ptr<Graph> graph;
  bool into_existing = false;
  std::weak_ptr<Stream> origin;
  struct Branch {
    std::weak_ptr<Stream> stream;
    std::vector<Node*> dependencies;
    bool added = false;  // nodes of its own since it joined
  };
  std::vector<Branch> branches;

  [[nodiscard]] Branch* branch(const Stream& stream) noexcept;
};

[[nodiscard]] bool capturing(const Stream& stream) noexcept;
void invalidate(Capture& capture);
// For calls that a capture does not allow in its mode: invalidates it and refuses with STREAM_CAPTURE_UNSUPPORTED.
void refuse_unsafe(Call& call);
// For calls on the stream itself that no mode allows.
void refuse_on_capturing(Call& call, Stream& stream);
// For work on the legacy stream while a blocking stream of the context is captured: STREAM_CAPTURE_IMPLICIT.
void refuse_implicit(Call& call, const Stream& stream);
// For work on a whole context of which a stream is captured.
void refuse_in_captured_context(Call& call, const Context& context);
// Adds work as a node at the end of the stream's branch. Refuses with STREAM_CAPTURE_INVALIDATED.
Node& capture_work(Call& call, Stream& stream, Work work);
void capture_record(Call& call, Stream& stream, Event& event);
// True if the wait was dealt with by a capture (of the stream or of the event).
bool capture_wait(Call& call, const std::shared_ptr<Stream>& stream, Event& event);

// cuMemAllocAsync and cuMemFreeAsync on a capturing stream.
void capture_allocation(Call& call, Stream& stream, CUdeviceptr* out, std::size_t size, Pool* pool);
void capture_free(Call& call, Stream& stream, CUdeviceptr address);
// Ends the capture that a stream takes part in, when the stream is destroyed.
void end_capture_of(Driver& driver, Stream& stream);

}  // namespace cufault::sim

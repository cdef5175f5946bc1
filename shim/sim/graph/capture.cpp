// SPDX-License-Identifier: Apache-2.0
// The rules of stream capture, as recorded (capture_*).
#include "graph/capture.h"

#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "event/event.h"
#include "graph/captures.h"
#include "stream/stream.h"

namespace cufault::sim {

Capture::Branch* Capture::branch(const Stream& stream) noexcept {
  for (Branch& branch : branches)
    if (branch.stream.lock().get() == &stream) return &branch;
  return nullptr;
}

bool capturing(const Stream& stream) noexcept { return stream.capture != nullptr; }

void invalidate(Capture& capture) { capture.invalidated = true; }

void refuse_unsafe(Call& call) {
  if (call.thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED || captures().empty()) return;
  bool refused = false;
  for (const auto& capture : captures()) {
    const bool own = capture->thread == call.thread.ordinal;
    const bool concerns =
        (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
         (own || call.thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && own);
    if (!concerns) continue;
    invalidate(*capture);
    refused = true;
  }
  require(!refused, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void refuse_on_capturing(Call& call, Stream& stream) {
  (void)call;
  if (!capturing(stream)) return;
  invalidate(*stream.capture);
  refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void refuse_implicit(Call& call, const Stream& stream) {
  (void)call;
  if (stream.role != Stream::Role::legacy) return;
  bool refused = false;
  for (const auto& capture : captures())
    for (const auto& branch : capture->branches) {
      const auto other = branch.stream.lock();
      if (other == nullptr || other->context != stream.context || !other->blocking()) continue;
      invalidate(*capture);
      refused = true;
    }
  require(!refused, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void refuse_in_captured_context(Call& call, const Context& context) {
  (void)call;
  bool refused = false;
  for (const auto& capture : captures())
    for (const auto& branch : capture->branches) {
      const auto stream = branch.stream.lock();
      if (stream == nullptr || stream->context.get() != &context) continue;
      invalidate(*capture);
      refused = true;
    }
  require(!refused, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

Node& capture_work(Call& call, Stream& stream, Work work) {
  Capture& capture = *stream.capture;
  require(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  Capture::Branch& branch = *capture.branch(stream);
  Node& node = add_node(call.driver, *capture.graph, branch.dependencies, std::move(work));
  branch.dependencies = {&node};
  branch.added = true;
  return node;
}

void capture_record(Call& call, Stream& stream, Event& event) {
  (void)call;
  Capture& capture = *stream.capture;
  require(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  event.captured = stream.capture;
  event.captured_ended = true;
  event.points.clear();
  event.time.reset();
  event.captured_nodes = capture.branch(stream)->dependencies;
}

bool capture_wait(Call& call, const std::shared_ptr<Stream>& stream, Event& event) {
  const auto from = event.captured.lock();
  if (!capturing(*stream)) {
    if (from == nullptr) return false;
    if (stream->role == Stream::Role::legacy) {
      invalidate(*from);
      refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    require(!from->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    stream->capture = from;
    from->branches.push_back({stream, event.captured_nodes, false});
    return true;
  }
  Capture& capture = *stream->capture;
  require(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  if (from == nullptr) {
    if (!event.recorded()) return true;
    invalidate(capture);
    refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  if (from != stream->capture) {
    invalidate(capture);
    invalidate(*from);
    refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  Capture::Branch& branch = *capture.branch(*stream);
  for (Node* node : event.captured_nodes)
    if (std::find(branch.dependencies.begin(), branch.dependencies.end(), node) == branch.dependencies.end())
      branch.dependencies.push_back(node);
  // The other branch is joined as far as the event saw it.
  for (Capture::Branch& other : capture.branches)
    if (&other != &branch && other.dependencies == event.captured_nodes) other.added = false;
  (void)call;
  return true;
}

}  // namespace cufault::sim

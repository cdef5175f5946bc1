// SPDX-License-Identifier: Apache-2.0
// Entry points: beginning, ending and looking at captures.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "graph/captures.h"
#include "stream/stream.h"

namespace cufault::sim {

std::vector<std::shared_ptr<Capture>>& captures() noexcept {
  static auto& all = *new std::vector<std::shared_ptr<Capture>>;
  return all;
}

namespace {

void begin(Call& call, const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
           std::vector<Node*> dependencies, bool into_existing) {
  auto capture = std::make_shared<Capture>();
  capture->id = call.driver.next_id();
  capture->mode = mode;
  capture->thread = call.thread.ordinal;
  capture->graph = std::move(graph);
  capture->into_existing = into_existing;
  capture->origin = stream;
  capture->branches.push_back({stream, std::move(dependencies), false});
  capture->graph->capture = capture.get();
  stream->capture = capture;
  captures().push_back(std::move(capture));
}

// Ends a capture for all of its streams.
void finish(const std::shared_ptr<Capture>& capture) {
  for (const auto& branch : capture->branches)
    if (const auto stream = branch.stream.lock(); stream != nullptr && stream->capture == capture) stream->capture = nullptr;
  capture->graph->capture = nullptr;
  std::erase(captures(), capture);
}

}  // namespace

void end_capture_of(Driver& driver, Stream& stream) {
  const auto capture = stream.capture;
  if (capture == nullptr) return;
  const auto graph = capture->graph;
  finish(capture);
  if (!capture->into_existing) bury(driver, *graph);
}

}  // namespace cufault::sim

using namespace cufault::sim;

namespace {

std::shared_ptr<Stream> stream_to_capture(Call& call, CUstream handle, CUstreamCaptureMode mode) {
  require(static_cast<unsigned>(mode) <= CU_STREAM_CAPTURE_MODE_RELAXED);
  auto stream = stream_of(call, handle);
  require(stream->role != Stream::Role::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  require(!capturing(*stream), CUDA_ERROR_ILLEGAL_STATE);
  return stream;
}

}  // namespace

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_to_capture(call, handle, mode);
    begin(call, stream, mode, make_graph(call.driver), {}, false);
  });
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle, const CUgraphNode* dependencies,
                                             const CUgraphEdgeData* data, size_t count, CUstreamCaptureMode mode) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)data;
    const auto stream = stream_to_capture(call, handle, mode);
    auto graph = call.use<Graph>(graph_handle, CUDA_ERROR_INVALID_VALUE);
    require(graph->capture == nullptr, CUDA_ERROR_ILLEGAL_STATE);
    auto nodes = nodes_of(call, *graph, dependencies, count);
    begin(call, stream, mode, std::move(graph), std::move(nodes), true);
  });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph* out) {
  return api(__func__, kPlain, [&](Call& call) -> CUresult {
    require(out != nullptr);
    const auto stream = stream_of(call, handle);
    *out = nullptr;
    const auto capture = stream->capture;
    require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    if (capture->origin.lock() != stream) {
      invalidate(*capture);
      return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    const bool wrong_thread = capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != call.thread.ordinal;
    const bool unjoined = std::any_of(capture->branches.begin(), capture->branches.end(), [&](const auto& branch) {
      return branch.added && branch.stream.lock() != stream;
    });
    const auto graph = capture->graph;
    finish(capture);
    const CUresult answer = wrong_thread           ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                            : capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                            : unjoined             ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                                   : CUDA_SUCCESS;
    if (answer == CUDA_SUCCESS)
      *out = graph->handle;
    else if (!capture->into_existing)
      bury(call.driver, *graph);
    return answer;
  });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return api(__func__, kPlain, [&](Call& call) {
    require(status != nullptr);
    const auto stream = stream_of(call, handle);
    refuse_implicit(call, *stream);
    *status = !capturing(*stream)            ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  });
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                        const CUgraphNode** dependencies, const CUgraphEdgeData** data, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(status != nullptr);
    const auto stream = stream_of(call, handle);
    refuse_implicit(call, *stream);
    if (!capturing(*stream)) {
      *status = CU_STREAM_CAPTURE_STATUS_NONE;
      return;
    }
    const Capture& capture = *stream->capture;
    if (capture.invalidated) {  // recorded: the other results stay as they were
      *status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return;
    }
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = capture.graph->handle;
    // The list is the caller's to read until its thread asks again.
    thread_local std::vector<CUgraphNode> handles;
    handles.clear();
    for (const Node* node : stream->capture->branch(*stream)->dependencies) handles.push_back(node->handle);
    if (dependencies != nullptr) *dependencies = handles.data();
    if (data != nullptr) *data = nullptr;
    if (count != nullptr) *count = handles.size();
  });
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* dependencies, const CUgraphEdgeData* data,
                                                   size_t count, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)data;
    require(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    const auto stream = stream_of(call, handle);
    require(capturing(*stream), CUDA_ERROR_ILLEGAL_STATE);
    Capture& capture = *stream->capture;
    require(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    const auto nodes = nodes_of(call, *capture.graph, dependencies, count);
    auto& branch = *capture.branch(*stream);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) branch.dependencies.clear();
    for (Node* node : nodes)
      if (std::find(branch.dependencies.begin(), branch.dependencies.end(), node) == branch.dependencies.end())
        branch.dependencies.push_back(node);
  });
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return api(__func__, kPlain, [&](Call& call) {
    require(mode != nullptr && static_cast<unsigned>(*mode) <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(*mode, call.thread.capture_mode);
  });
}

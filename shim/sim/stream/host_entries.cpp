// SPDX-License-Identifier: Apache-2.0
// Entry points: functions of the application in order of a stream.
#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "graph/graph.h"
#include "stream/stream.h"

using namespace cufault::sim;

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return api(__func__, {.reports_fault = true, .inside = Callback::stream_callback}, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(function != nullptr);
    enqueue(call, stream, HostWork{{function, data}});
  });
}

CUresult CUDAAPI cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(function != nullptr && flags == 0);
    refuse_on_capturing(call, *stream);
    refuse_implicit(call, *stream);
    Operation operation;
    operation.application = Callback::stream_callback;
    operation.run = [function, handle, data] { function(handle, CUDA_SUCCESS, data); };
    submit(call.driver, stream, std::move(operation));
  });
}

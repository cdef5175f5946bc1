// SPDX-License-Identifier: Apache-2.0
// Captures that other threads meet, capture into a graph that exists, and the dependencies of a capture.
#include <thread>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

void in_another_thread(const std::function<void()>& work) {
  std::thread([&work] {
    SETUP(cuCtxSetCurrent(prim));
    work();
  }).join();
}

CUstream capturing(CUstreamCaptureMode mode) {
  CUstream s = stream();
  SETUP(cuStreamBeginCapture(s, mode));
  return s;
}

void ended_elsewhere(CUstreamCaptureMode mode) {
  boot();
  CUstream s = capturing(mode);
  in_another_thread([&] { STEP("end in the other thread", end_of(s)); });
  STEP("status", cap_status(s));
  STEP("end here", end_of(s));
}

void unsafe_call_elsewhere(CUstreamCaptureMode mode) {
  boot();
  CUstream s = capturing(mode);
  in_another_thread([&] {
    CUdeviceptr p;
    CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_RELAXED;
    CALL(cuMemAlloc(&p, 64));
    STEP("status", cap_status(s));
    CALL(cuThreadExchangeStreamCaptureMode(&m));
    STEP("this thread's mode was", m);
    CALL(cuMemAlloc(&p, 64));
  });
  STEP("status", cap_status(s));
  STEP("end", end_of(s));
}

void unsafe_call_in_thread_local_mode(CUstreamCaptureMode mode) {
  boot();
  CUstream s = capturing(mode);
  in_another_thread([&] {
    CUdeviceptr p;
    CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    SETUP(cuThreadExchangeStreamCaptureMode(&m));
    STEP("cuMemAlloc in a thread of thread-local mode", cuMemAlloc(&p, 64));
  });
  STEP("status", cap_status(s));
  STEP("end", end_of(s));
}

void unsafe_call_in_own_relaxed_mode(CUstreamCaptureMode mode) {
  boot();
  CUstream s = stream();
  CUdeviceptr p;
  CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_RELAXED;
  CALL(cuThreadExchangeStreamCaptureMode(&m));
  STEP("mode was", m);
  SETUP(cuStreamBeginCapture(s, mode));
  CALL(cuMemAlloc(&p, 64));
  STEP("status", cap_status(s));
  STEP("end", end_of(s));
  m = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  CALL(cuThreadExchangeStreamCaptureMode(&m));
  STEP("mode was", m);
  m = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CALL(cuThreadExchangeStreamCaptureMode(&m));
  STEP("mode was", m);
}

void launched_elsewhere() {
  boot();
  CUfunction f = fn("ok");
  SETUP(launch(f));
  CUstream s = capturing(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUgraph g = nullptr;
  in_another_thread([&] { STEP("launch on the capturing stream in the other thread", launch(f, s)); });
  STEP("end", end_of(s, &g));
  STEP("nodes", count_nodes(g));
}

CUresult begin_to_graph(CUstream s, CUgraph g, const CUgraphNode* after, std::size_t count) {
  return cuStreamBeginCaptureToGraph(s, g, after, nullptr, count, CU_STREAM_CAPTURE_MODE_RELAXED);
}

void to_graph() {
  boot();
  CUfunction f = fn("ok");
  SETUP(launch(f));
  CUstream s = stream();
  CUstream t = stream();
  CUgraph g = graph();
  CUgraph o = graph();
  CUgraph out = nullptr;
  CUgraphNode a = empty(g);
  CUgraphNode b = empty(o);
  STEP("foreign dependency", begin_to_graph(s, g, &b, 1));
  STEP("status", cap_status(s));
  STEP("null dependencies count 1", begin_to_graph(s, g, nullptr, 1));
  STEP("begin", begin_to_graph(s, g, &a, 1));
  STEP("second stream, same graph", begin_to_graph(t, g, nullptr, 0));
  STEP("status second", cap_status(t));
  SETUP(launch(f, s));
  CUgraphNode c;
  CUgraphExec x;
  CALL(cuGraphAddEmptyNode(&c, g, nullptr, 0));
  CALL(cuGraphDestroyNode(a));
  CALL(cuGraphInstantiate(&x, g, 0));
  CALL(cuStreamEndCapture(s, &out));
  STEP("same graph", out == g);
  STEP("types", types(g));
  STEP("edges", edges(g));
}

void update_dependencies() {
  boot();
  CUfunction f = fn("ok");
  SETUP(launch(f));
  CUstream s = stream();
  CUgraph g;
  CUgraphNode b = empty(graph());
  CUstreamCaptureStatus st;
  const CUgraphNode* deps = nullptr;
  std::size_t nd = 0;
  const auto look = [&] { SETUP(cuStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, nullptr, &nd)); };
  SETUP(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(launch(f, s));
  look();
  CUgraphNode n = deps != nullptr ? deps[0] : nullptr;
  SETUP(launch(f, s));
  CALL(cuStreamUpdateCaptureDependencies(s, &n, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  look();
  STEP("dependencies", nd);
  CALL(cuStreamUpdateCaptureDependencies(s, &n, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  look();
  STEP("dependencies after adding it again", nd);
  CALL(cuStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  look();
  STEP("dependencies", nd);
  CALL(cuStreamUpdateCaptureDependencies(s, &b, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CALL(cuStreamUpdateCaptureDependencies(s, &n, nullptr, 1, 9));
  CALL(cuStreamUpdateCaptureDependencies(s, nullptr, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  STEP("status", cap_status(s));
  STEP("end", end_of(s));
}

}  // namespace

void add_capture_threads(CaseList& list) {
  for (int number = 0; number < 3; number++) {
    const auto mode = static_cast<CUstreamCaptureMode>(number);
    const std::string suffix = "_mode" + std::to_string(number);
    list.chained("capture_end_in_other_thread" + suffix, [mode] { ended_elsewhere(mode); });
    list.chained("capture_other_thread_unsafe_call" + suffix, [mode] { unsafe_call_elsewhere(mode); });
    list.chained("capture_other_thread_local_mode" + suffix, [mode] { unsafe_call_in_thread_local_mode(mode); });
    list.chained("capture_own_thread_mode_relaxed" + suffix, [mode] { unsafe_call_in_own_relaxed_mode(mode); });
  }
  list.chained("capture_launch_in_other_thread", launched_elsewhere);
  list.chained("capture_to_graph", to_graph);
  list.chained("capture_update_dependencies", update_dependencies);
}

}  // namespace probe

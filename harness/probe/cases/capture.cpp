// SPDX-License-Identifier: Apache-2.0
// Stream capture: its life, events and joined streams, capture to a graph, dependencies, the nodes that calls become.
#include <cstdlib>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

// Boots and launches the kernel once, because a first launch may load it, which a capture does not allow.
CUfunction boot_and_warm() {
  boot();
  CUfunction f = fn("ok");
  SETUP(launch(f));
  return f;
}

void lifecycle() {
  CUfunction f = boot_and_warm();
  CUstream s = stream();
  CUgraph g = nullptr;
  CUgraph ig = nullptr;
  auto st = static_cast<CUstreamCaptureStatus>(-1);
  cuuint64_t id = 0;
  cuuint64_t id2 = 0;
  std::size_t nd = 77;
  const CUgraphNode* deps = nullptr;
  STEP("status before", cap_status(s));
  CALL(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  STEP("status during", cap_status(s));
  CALL(cuStreamGetCaptureInfo(s, &st, &id, &ig, &deps, nullptr, &nd));
  STEP("info status", st);
  STEP("info id set", id != 0);
  STEP("info graph set", ig != nullptr);
  STEP("info dependencies", nd);
  CALL(launch(f, s));
  CALL(cuStreamGetCaptureInfo(s, &st, &id2, &ig, &deps, nullptr, &nd));
  STEP("same id", id == id2);
  STEP("info dependencies", nd);
  CALL(launch(f, s));
  CALL(cuStreamGetCaptureInfo(s, &st, nullptr, nullptr, nullptr, nullptr, &nd));
  STEP("info dependencies after a second kernel", nd);
  STEP("nodes in the graph during capture", count_nodes(ig));
  CUgraphNode added;
  STEP("cuGraphAddEmptyNode to the graph being captured", cuGraphAddEmptyNode(&added, ig, nullptr, 0));
  CALL(cuStreamEndCapture(s, &g));
  STEP("same graph as info", g == ig);
  STEP("types", types(g));
  STEP("edges", edges(g));
  STEP("status after", cap_status(s));
  id = 5;
  nd = 77;
  CALL(cuStreamGetCaptureInfo(s, &st, &id, &ig, &deps, nullptr, &nd));
  STEP("info status", st);
  STEP("id untouched", id == 5);
  STEP("dependencies", nd);
  CALL(cuStreamEndCapture(s, &g));
}

void special_streams() {
  CUfunction f = boot_and_warm();
  CALL(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CALL(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
  CALL(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
  STEP("per-thread status", cap_status(CU_STREAM_PER_THREAD));
  STEP("legacy status while per-thread captures", cap_status(nullptr));
  STEP("launch on legacy while per-thread captures", launch(f));
  STEP("end", end_of(CU_STREAM_PER_THREAD));
}

void captured_graph_destroyed() {
  boot();
  CUstream s = stream();
  CUgraph g = nullptr;
  CUstreamCaptureStatus st;
  SETUP(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(cuStreamGetCaptureInfo(s, &st, nullptr, &g, nullptr, nullptr, nullptr));
  CALL(cuGraphDestroy(g));
  STEP("status", cap_status(s));
  STEP("end", end_of(s));
}

// A stream that captures, with the event `e` recorded in the capture and `e2` recorded before it on another stream.
struct CapturedEvent {
  CUstream s = nullptr;
  CUstream o = nullptr;
  CUevent e = nullptr;
  CUevent e2 = nullptr;
};

void captured_event(void (*use)(const CapturedEvent&)) {
  CUfunction f = boot_and_warm();
  const CapturedEvent c{stream(), stream(), event(), event()};
  SETUP(cuEventRecord(c.e2, c.o));
  SETUP(cuStreamSynchronize(c.o));
  SETUP(cuStreamBeginCapture(c.s, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(launch(f, c.s));
  SETUP(cuEventRecord(c.e, c.s));
  use(c);
  STEP("status", cap_status(c.s));
  STEP("end", end_of(c.s));
}

void add_captured_event_cases(CaseList& list) {
  const auto add = [&list](const char* how, void (*use)(const CapturedEvent&)) {
    list.chained(std::string{"capture_event_during_"} + how, [use] { captured_event(use); });
  };
  add("sync", [](const CapturedEvent& c) {
    CUevent e = c.e;
    CALL(cuEventSynchronize(e));
  });
  add("elapsed", [](const CapturedEvent& c) {
    CUevent e = c.e;
    CUevent e2 = c.e2;
    float ms;
    CALL(cuEventElapsedTime(&ms, e2, e));
  });
  add("wait_legacy", [](const CapturedEvent& c) {
    CUevent e = c.e;
    CALL(cuStreamWaitEvent(nullptr, e, 0));
  });
  add("destroy", [](const CapturedEvent& c) {
    CUevent e = c.e;
    CALL(cuEventDestroy(e));
  });
  add("rerecord_outside", [](const CapturedEvent& c) {
    CUevent e = c.e;
    CUstream o = c.o;
    CALL(cuEventRecord(e, o));
    STEP("other stream status", cap_status(o));
  });
}

void join() {
  CUfunction f = boot_and_warm();
  CUstream a = stream();
  CUstream b = stream();
  CUevent e = event();
  CUevent e2 = event();
  CUgraph g = nullptr;
  cuuint64_t i1 = 0;
  cuuint64_t i2 = 1;
  CUstreamCaptureStatus st;
  SETUP(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(launch(f, a));
  CALL(cuEventRecord(e, a));
  CALL(cuStreamWaitEvent(b, e, 0));
  STEP("status b", cap_status(b));
  SETUP(cuStreamGetCaptureInfo(a, &st, &i1, nullptr, nullptr, nullptr, nullptr));
  SETUP(cuStreamGetCaptureInfo(b, &st, &i2, nullptr, nullptr, nullptr, nullptr));
  STEP("same capture id", i1 == i2);
  SETUP(launch(f, b));
  SETUP(launch(f, a));
  CALL(cuEventRecord(e2, b));
  CALL(cuStreamWaitEvent(a, e2, 0));
  SETUP(launch(f, a));
  STEP("end", end_of(a, &g));
  STEP("types", types(g));
  STEP("edges", edges(g));
  STEP("status b after", cap_status(b));
}

void ended_on_joined_stream() {
  boot();
  CUstream a = stream();
  CUstream b = stream();
  CUevent e = event();
  SETUP(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(cuEventRecord(e, a));
  SETUP(cuStreamWaitEvent(b, e, 0));
  STEP("end on the joined stream", end_of(b));
  STEP("status a", cap_status(a));
  STEP("status b", cap_status(b));
  STEP("end a", end_of(a));
}

void unjoined(bool with_work) {
  CUfunction f = boot_and_warm();
  CUstream a = stream();
  CUstream b = stream();
  CUevent e = event();
  SETUP(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  SETUP(launch(f, a));
  SETUP(cuEventRecord(e, a));
  SETUP(cuStreamWaitEvent(b, e, 0));
  if (with_work) SETUP(launch(f, b));
  STEP("end", end_of(a));
  STEP("status a", cap_status(a));
  STEP("status b", cap_status(b));
  STEP("launch on b afterwards", launch(f, b));
}

void waits_for_outside_event() {
  boot();
  CUstream a = stream();
  CUstream b = stream();
  CUevent e = event();
  SETUP(cuEventRecord(e, b));
  SETUP(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  CALL(cuStreamWaitEvent(a, e, 0));
  STEP("status", cap_status(a));
  STEP("end", end_of(a));
}

void waits_for_pending_outside_event() {
  boot();
  static Gate gate;
  CUstream a = stream();
  CUstream b = stream();
  CUevent e = event();
  shut(gate, b);
  SETUP(cuEventRecord(e, b));
  SETUP(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  CALL(cuStreamWaitEvent(a, e, 0));
  STEP("status", cap_status(a));
  STEP("end", end_of(a));
  gate.open = 1;
  CALL(cuStreamSynchronize(b));
}

void stream_destroyed() {
  CUfunction f = boot_and_warm();
  CUstream s = stream();
  CUdeviceptr p;
  SETUP(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SETUP(launch(f, s));
  CALL(cuStreamDestroy(s));
  CALL(cuMemAlloc(&p, 64));
  CUstream t = stream();
  CALL(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_GLOBAL));
  STEP("end", end_of(t));
}

void after_invalidation() {
  CUfunction f = boot_and_warm();
  CUstream s = stream();
  CUevent e = event();
  CUstreamCaptureStatus st{};
  std::size_t nd = 77;
  auto ig = reinterpret_cast<CUgraph>(1);
  CUdeviceptr p;
  SETUP(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SETUP(launch(f, s));
  CALL(cuMemAlloc(&p, 64));
  STEP("status", cap_status(s));
  STEP("launch", launch(f, s));
  CALL(cuEventRecord(e, s));
  CALL(cuStreamWaitEvent(s, e, 0));
  CALL(cuLaunchHostFunc(s, nothing, nullptr));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamGetCaptureInfo(s, &st, nullptr, &ig, nullptr, nullptr, &nd));
  STEP("info status", st);
  STEP("info dependencies", nd);
  STEP("info graph", ig == reinterpret_cast<CUgraph>(1) ? 1 : ig != nullptr ? 2 : 0);
  CALL(cuMemAlloc(&p, 64));
  CALL(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  STEP("end", end_of(s));
  STEP("status", cap_status(s));
  CALL(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  STEP("launch", launch(f, s));
  STEP("end", end_of(s));
}

}  // namespace

void add_capture(CaseList& list) {
  list.chained("capture_lifecycle", lifecycle);
  list.independent("capture_begin_special_streams", special_streams);
  list.chained("capture_destroy_captured_graph", captured_graph_destroyed);
  add_captured_event_cases(list);
  list.chained("capture_join", join);
  list.chained("capture_unmatched", ended_on_joined_stream);
  list.chained("capture_unjoined_no_work", [] { unjoined(false); });
  list.chained("capture_unjoined_with_work", [] { unjoined(true); });
  list.chained("capture_isolation", waits_for_outside_event);
  list.chained("capture_isolation_pending_event", waits_for_pending_outside_event);
  list.chained("capture_destroy_stream", stream_destroyed);
  list.chained("capture_after_invalidation", after_invalidation);
}

}  // namespace probe

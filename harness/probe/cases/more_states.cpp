// SPDX-License-Identifier: Apache-2.0
// Nearly every function in states that no recording has for it: a process for each function and state.
#include <cstdlib>
#include <string>

#include "cases/cases.h"
#include "cases/more_calls.h"
#include "cases/nodes.h"

namespace probe {
namespace {

constexpr std::size_t size = 65536;

void make_graph() {
  t.g = graph();
  t.empty = empty(t.g);
  t.kern = kern(t.g, t.f);
  t.mset = mset(t.g, t.p);
  t.copy = copy(t.g, dtod(t.q, t.p));
  t.host = host(t.g);
  t.record = record(t.g, t.e);
  SETUP(cuGraphAddEventWaitNode(&t.wait, t.g, nullptr, 0, t.e));
  t.child = child(t.g, r.g);
  t.x = inst(t.g);
}

void make_everything() {
  boot();
  make(r, Green::with);
  t.f = fn("ok");
  SETUP(cuLibraryLoadData(&t.lib, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SETUP(cuLibraryGetKernel(&t.k, t.lib, "ok"));
  t.s = stream();
  t.capturing = stream();
  t.e = event();
  t.e2 = event();
  t.ip = event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  t.p = mem(size);
  t.q = mem(size);
  t.m = managed(size);
  SETUP(cuMemAllocAsync(&t.a, size, t.s));
  t.raw = std::aligned_alloc(4096, size);
  t.h = pinned(size);
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = shape.Height = 64;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  SETUP(cuArrayCreate(&t.arr, &shape));
  SETUP(cuMemsetD8(t.q, 0, size));
  SETUP(cuEventRecord(t.e, t.s));
  SETUP(cuEventRecord(t.e2, t.s));
  SETUP(cuStreamSynchronize(t.s));
  make_graph();
}

void works() {}

void no_context() { SETUP(cuCtxSetCurrent(nullptr)); }

// A green context would keep the primary one alive.
void reset() {
  SETUP(cuGreenCtxDestroy(r.gc));
  r.gc = nullptr;
  SETUP(cuDevicePrimaryCtxReset(dev));
}

void fault() {
  CUfunction trap = fn("trp", module_of(faulting_program));
  SETUP(launch(trap));
  CALL(cuCtxSynchronize());
}

void capture() { SETUP(cuStreamBeginCapture(t.capturing, CU_STREAM_CAPTURE_MODE_GLOBAL)); }

struct State {
  const char* name;
  void (*enter)();
};

// `works` is the measure of the others: a call that fails there says little elsewhere.
const State states[] = {
    {"works", works}, {"no_context", no_context}, {"reset", reset}, {"sticky", fault}, {"capturing", capture},
};

void call_in(const State& state, const GoodCall& call) {
  make_everything();
  state.enter();
  step(call.text, call.make);
  CALL(cuCtxSynchronize());
}

// "cuMemAlloc(&p, 4)": cuMemAlloc
std::string function_of(const GoodCall& call) {
  const std::string text = call.text;
  return text.substr(0, text.find('('));
}

}  // namespace

void add_more_states(CaseList& list) {
  for (const State& state : states) {
    for (const auto& calls : {good_device_calls(), good_memory_calls(), good_stream_calls(), good_graph_calls(),
                              good_module_calls()}) {
      for (const GoodCall& call : calls) {
        list.chained(std::string{"more_"} + state.name + "_" + function_of(call),
                     [&state, &call] { call_in(state, call); });
      }
    }
  }
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// What each kind of call does to a capture that is going on, by the capture's mode; and the node that a call becomes.
#include <cstdlib>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

// What the calls work on, none of it part of the capture.
struct Around {
  CUfunction f = nullptr;
  CUstream o = nullptr;       // another stream
  CUevent done = nullptr;     // recorded on it and complete
  CUevent fresh = nullptr;    // never recorded
  void* h = nullptr;          // pinned
  void* raw = nullptr;        // pageable, page-aligned
  CUgraphExec ex = nullptr;   // of an empty graph
  CUgraph eg = nullptr;
  CUmemoryPool dp = nullptr;
  CUdeviceptr q = 0;          // device memory
  CUdeviceptr pa = 0;         // device memory, new for each call
  CUstream ms = nullptr;      // a stream to destroy
};

struct Act {
  const char* name;
  CUresult (*call)(const Around& x, CUstream s);  // s captures
};

const Act memory_acts[] = {
    {"cuMemAlloc", [](auto&, CUstream) { CUdeviceptr p; return cuMemAlloc(&p, 64); }},
    {"cuMemFree", [](auto& x, CUstream) { return cuMemFree(x.pa); }},
    {"cuMemAllocHost", [](auto&, CUstream) { void* p; return cuMemAllocHost(&p, 64); }},
    {"cuMemHostRegister", [](auto& x, CUstream) { return cuMemHostRegister(x.raw, 4096, 0); }},
    {"cuMemAllocManaged",
     [](auto&, CUstream) { CUdeviceptr p; return cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL); }},
};

const Act stream_acts[] = {
    {"cuStreamCreate", [](auto&, CUstream) { CUstream t; return cuStreamCreate(&t, 0); }},
    {"cuStreamDestroy other", [](auto& x, CUstream) { return cuStreamDestroy(x.ms); }},
    {"cuEventCreate", [](auto&, CUstream) { CUevent e; return cuEventCreate(&e, 0); }},
    {"cuEventQuery done event", [](auto& x, CUstream) { return cuEventQuery(x.done); }},
    {"cuEventSynchronize done event", [](auto& x, CUstream) { return cuEventSynchronize(x.done); }},
    {"cuEventRecord on other stream", [](auto& x, CUstream) { return cuEventRecord(x.done, x.o); }},
    {"cuStreamSynchronize self", [](auto&, CUstream s) { return cuStreamSynchronize(s); }},
    {"cuStreamQuery self", [](auto&, CUstream s) { return cuStreamQuery(s); }},
    {"cuStreamSynchronize other", [](auto& x, CUstream) { return cuStreamSynchronize(x.o); }},
    {"cuStreamQuery other", [](auto& x, CUstream) { return cuStreamQuery(x.o); }},
    {"cuStreamQuery legacy", [](auto&, CUstream) { return cuStreamQuery(nullptr); }},
    {"cuStreamSynchronize legacy", [](auto&, CUstream) { return cuStreamSynchronize(nullptr); }},
    {"cuCtxSynchronize", [](auto&, CUstream) { return cuCtxSynchronize(); }},
};

const Act work_acts[] = {
    {"cuMemcpyHtoD", [](auto& x, CUstream) { return cuMemcpyHtoD(x.q, x.raw, 4); }},
    {"cuMemcpyDtoH", [](auto& x, CUstream) { return cuMemcpyDtoH(x.raw, x.q, 4); }},
    {"cuMemcpyDtoD", [](auto& x, CUstream) { return cuMemcpyDtoD(x.q, x.q + 64, 4); }},
    {"cuMemsetD8", [](auto& x, CUstream) { return cuMemsetD8(x.q, 0, 4); }},
    {"launch on legacy", [](auto& x, CUstream) { return launch(x.f); }},
    {"launch on other", [](auto& x, CUstream) { return launch(x.f, x.o); }},
    {"cuMemcpyHtoDAsync pageable self", [](auto& x, CUstream s) { return cuMemcpyHtoDAsync(x.q, x.raw, 4, s); }},
    {"cuMemcpyHtoDAsync pinned other", [](auto& x, CUstream) { return cuMemcpyHtoDAsync(x.q, x.h, 4, x.o); }},
    {"cuModuleLoadData", [](auto&, CUstream) { CUmodule m; return cuModuleLoadData(&m, PTX); }},
    {"cuModuleGetFunction new function",
     [](auto&, CUstream) { CUfunction g; return cuModuleGetFunction(&g, mod, "ok2"); }},
    {"cuMemGetInfo", [](auto&, CUstream) { std::size_t a, b; return cuMemGetInfo(&a, &b); }},
    {"cuPointerGetAttribute",
     [](auto& x, CUstream) { int t; return cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x.q); }},
    {"cuFuncGetAttribute",
     [](auto& x, CUstream) { int t; return cuFuncGetAttribute(&t, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, x.f); }},
    {"cuCtxSetLimit", [](auto&, CUstream) { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); }},
};

const Act pool_acts[] = {
    {"cuMemAllocAsync other", [](auto& x, CUstream) { CUdeviceptr p; return cuMemAllocAsync(&p, 64, x.o); }},
    {"cuMemFreeAsync of ordinary memory self", [](auto& x, CUstream s) { return cuMemFreeAsync(x.pa, s); }},
    {"cuMemPoolTrimTo", [](auto& x, CUstream) { return cuMemPoolTrimTo(x.dp, 0); }},
    {"cuMemPoolCreate",
     [](auto&, CUstream) { CUmemoryPool p; auto props = pool_props(); return cuMemPoolCreate(&p, &props); }},
    {"cuMemAddressReserve", [](auto&, CUstream) { CUdeviceptr p; return cuMemAddressReserve(&p, MB2, 0, 0, 0); }},
    {"cuMemCreate",
     [](auto&, CUstream) {
       CUmemGenericAllocationHandle h;
       auto props = vmm_props();
       return cuMemCreate(&h, MB2, &props, 0);
     }},
};

const Act graph_acts[] = {
    {"cuGraphInstantiate other", [](auto& x, CUstream) { CUgraphExec y; return cuGraphInstantiate(&y, x.eg, 0); }},
    {"cuGraphLaunch on other", [](auto& x, CUstream) { return cuGraphLaunch(x.ex, x.o); }},
    {"cuGraphLaunch on self", [](auto& x, CUstream s) { return cuGraphLaunch(x.ex, s); }},
    {"cuGraphUpload on self", [](auto& x, CUstream s) { return cuGraphUpload(x.ex, s); }},
    {"cuLaunchHostFunc self", [](auto&, CUstream s) { return cuLaunchHostFunc(s, nothing, nullptr); }},
    {"cuStreamAddCallback self", [](auto&, CUstream s) { return cuStreamAddCallback(s, stream_nothing, nullptr, 0); }},
    {"cuStreamAddCallback other",
     [](auto& x, CUstream) { return cuStreamAddCallback(x.o, stream_nothing, nullptr, 0); }},
};

const Act other_acts[] = {
    {"cuStreamWaitEvent self on never recorded",
     [](auto& x, CUstream s) { return cuStreamWaitEvent(s, x.fresh, 0); }},
    {"cuStreamWaitEvent self on recorded elsewhere",
     [](auto& x, CUstream s) { return cuStreamWaitEvent(s, x.done, 0); }},
    {"cuStreamWaitEvent external",
     [](auto& x, CUstream s) { return cuStreamWaitEvent(s, x.done, CU_EVENT_WAIT_EXTERNAL); }},
    {"cuEventRecordWithFlags external",
     [](auto& x, CUstream s) { return cuEventRecordWithFlags(x.fresh, s, CU_EVENT_RECORD_EXTERNAL); }},
    {"cuStreamGetAttribute self",
     [](auto&, CUstream s) {
       CUstreamAttrValue v;
       return cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v);
     }},
    {"cuStreamAttachMemAsync self",
     [](auto& x, CUstream s) { return cuStreamAttachMemAsync(s, x.q, 0, CU_MEM_ATTACH_GLOBAL); }},
    {"cuStreamWriteValue32 self", [](auto& x, CUstream s) { return cuStreamWriteValue32(s, x.q, 1, 0); }},
    {"launch with bad block self",
     [](auto& x, CUstream s) { return cuLaunchKernel(x.f, 1, 1, 1, 4096, 1, 1, 0, s, nullptr, nullptr); }},
    {"cuMemcpyAsync zero bytes self", [](auto& x, CUstream s) { return cuMemcpyAsync(x.q, x.q + 64, 0, s); }},
    {"cuMemsetD8Async zero bytes self", [](auto& x, CUstream s) { return cuMemsetD8Async(x.q, 0, 0, s); }},
    {"cuDevicePrimaryCtxGetState",
     [](auto&, CUstream) { unsigned a; int b; return cuDevicePrimaryCtxGetState(dev, &a, &b); }},
    {"cuCtxCreate",
     [](auto&, CUstream) {
       CUcontext c, d;
       const CUresult r = cuCtxCreate(&c, nullptr, 0, dev);
       if (r == CUDA_SUCCESS) cuCtxPopCurrent(&d);
       return r;
     }},
    {"cuArrayCreate",
     [](auto&, CUstream) {
       CUarray a;
       CUDA_ARRAY_DESCRIPTOR d{};
       d.Width = d.Height = 16;
       d.NumChannels = 1;
       d.Format = CU_AD_FORMAT_FLOAT;
       return cuArrayCreate(&a, &d);
     }},
};

// "begin CODE" if that failed, the call's answer, the status after it, the end's answer, the nodes of the graph.
std::string made_during_capture(const Act& act, const Around& x, CUstream s, CUstreamCaptureMode mode) {
  const CUresult begun = cuStreamBeginCapture(s, mode);
  const CUresult called = act.call(x, s);
  const int status = cap_status(s);
  CUgraph g = nullptr;
  const CUresult ended = cuStreamEndCapture(s, &g);
  return (begun == CUDA_SUCCESS ? "" : "begin " + name_of(begun) + " ") + name_of(called) +
         " status=" + std::to_string(status) + " end=" + name_of(ended) +
         " nodes=" + (g != nullptr ? std::to_string(count_nodes(g)) : "-");
}

void calls(CUstreamCaptureMode mode) {
  boot();
  Around x;
  x.f = fn("ok");
  SETUP(launch(x.f));
  x.o = stream();
  x.done = event();
  x.fresh = event();
  SETUP(cuEventRecord(x.done, x.o));
  SETUP(cuStreamSynchronize(x.o));
  x.raw = std::aligned_alloc(4096, 4096);
  x.h = pinned(64);
  x.eg = graph();
  x.ex = inst(x.eg);
  x.dp = default_pool();
  x.q = mem();
  x.ms = stream();
  const auto each_of = [&](const auto& acts) {
    for (const Act& act : acts) {
      x.pa = mem();
      CUstream s = stream();
      step(act.name, [&] { return made_during_capture(act, x, s, mode); });
    }
  };
  each_of(memory_acts);
  each_of(stream_acts);
  each_of(work_acts);
  each_of(pool_acts);
  each_of(graph_acts);
  each_of(other_acts);
}

// What the nodes of "capture_node_types" work on.
struct Captured {
  CUfunction f;
  CUdeviceptr p;
  void* h;    // pinned
  void* raw;  // pageable
  CUgraphExec ex;
  CUevent e;
};

CUresult alloc_and_free(CUstream s, int times) {
  CUdeviceptr p;
  CUresult r = cuMemAllocAsync(&p, 64, s);
  for (int i = 0; i < times && r == CUDA_SUCCESS; i++) r = cuMemFreeAsync(p, s);
  return r;
}

struct NodeAct {
  const char* name;
  CUresult (*call)(const Captured& x, CUstream s);
};

const NodeAct node_acts[] = {
    {"memcpy HtoD pinned", [](auto& x, CUstream s) { return cuMemcpyHtoDAsync(x.p, x.h, 64, s); }},
    {"memcpy HtoD pageable", [](auto& x, CUstream s) { return cuMemcpyHtoDAsync(x.p, x.raw, 64, s); }},
    {"memcpy DtoH pageable", [](auto& x, CUstream s) { return cuMemcpyDtoHAsync(x.raw, x.p, 64, s); }},
    {"memset D8", [](auto& x, CUstream s) { return cuMemsetD8Async(x.p, 1, 64, s); }},
    {"memset 2D", [](auto& x, CUstream s) { return cuMemsetD2D8Async(x.p, 128, 1, 64, 2, s); }},
    {"host func", [](auto&, CUstream s) { return cuLaunchHostFunc(s, nothing, nullptr); }},
    {"graph launch", [](auto& x, CUstream s) { return cuGraphLaunch(x.ex, s); }},
    {"event record", [](auto& x, CUstream s) { return cuEventRecord(x.e, s); }},
    {"event record external",
     [](auto& x, CUstream s) { return cuEventRecordWithFlags(x.e, s, CU_EVENT_RECORD_EXTERNAL); }},
    {"event wait external", [](auto& x, CUstream s) { return cuStreamWaitEvent(s, x.e, CU_EVENT_WAIT_EXTERNAL); }},
    {"alloc", [](auto&, CUstream s) { return alloc_and_free(s, 0); }},
    {"alloc and free", [](auto&, CUstream s) { return alloc_and_free(s, 1); }},
    {"alloc and free twice", [](auto&, CUstream s) { return alloc_and_free(s, 2); }},
    {"write value", [](auto& x, CUstream s) { return cuStreamWriteValue32(s, x.p, 1, 0); }},
    {"wait value", [](auto& x, CUstream s) { return cuStreamWaitValue32(s, x.p, 1, 0); }},
    {"cooperative kernel",
     [](auto& x, CUstream s) { return cuLaunchCooperativeKernel(x.f, 1, 1, 1, 1, 1, 1, 0, s, nullptr); }},
};

void node_types() {
  boot();
  CUfunction f = fn("ok");
  SETUP(launch(f));
  CUgraph launched = graph();
  empty(launched);
  const Captured x{f, mem(), pinned(4096), std::malloc(4096), inst(launched), event()};
  for (const NodeAct& act : node_acts) {
    step(act.name, [&] {
      CUstream s = stream();
      CUgraph g = nullptr;
      SETUP(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
      const CUresult called = act.call(x, s);
      const CUresult ended = cuStreamEndCapture(s, &g);
      return name_of(called) + " end=" + name_of(ended) + " types=" + (g != nullptr ? types(g) : "-");
    });
  }
}

}  // namespace

void add_capture_calls(CaseList& list) {
  for (int mode = 0; mode < 3; mode++)
    list.independent("capture_calls_mode" + std::to_string(mode), [mode] { calls(CUstreamCaptureMode(mode)); });
  list.chained("capture_node_types", node_types);
}

}  // namespace probe

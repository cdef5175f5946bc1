// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time, for functions of graphs that no recording has; and cuCtxDetach beside what others hold.
#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

void event_and_host_nodes() {
  boot();
  CUgraph g = graph();
  CUevent e = event();
  CUevent got;
  CUgraphNode em = empty(g);
  CUgraphNode h = host(g);
  CUgraphNode er = record(g, e);
  CUgraphNode ew = nullptr;
  CUDA_HOST_NODE_PARAMS hp{nothing, nullptr};
  SETUP(cuGraphAddEventWaitNode(&ew, g, nullptr, 0, e));
  CALL(cuGraphEventRecordNodeSetEvent(er, nullptr));
  CALL(cuGraphEventRecordNodeSetEvent(ew, e));
  CALL(cuGraphEventRecordNodeSetEvent(nullptr, e));
  CALL(cuGraphEventWaitNodeSetEvent(ew, nullptr));
  CALL(cuGraphEventWaitNodeSetEvent(er, e));
  CALL(cuGraphEventWaitNodeGetEvent(ew, nullptr));
  CALL(cuGraphEventWaitNodeGetEvent(er, &got));
  CALL(cuGraphEventWaitNodeGetEvent(em, &got));
  CALL(cuGraphHostNodeSetParams(h, nullptr));
  CALL(cuGraphHostNodeSetParams(em, &hp));
  CALL(cuGraphHostNodeSetParams(nullptr, &hp));
  hp.fn = nullptr;
  STEP("cuGraphHostNodeSetParams null fn", cuGraphHostNodeSetParams(h, &hp));
}

void memory_nodes() {
  boot();
  CUgraph g = graph();
  CUdeviceptr p = mem();
  CUdeviceptr q = mem();
  CUgraphNode em = empty(g);
  CUgraphNode ms = mset(g, p);
  CUgraphNode mc = copy(g, dtod(q, p));
  const auto set = [&](const char* what, auto change) {
    const auto params = with(setparams(p), change);
    STEP(what, cuGraphMemsetNodeSetParams(ms, &params));
  };
  const auto copied = [&](const char* what, auto change) {
    const auto params = with(dtod(q, p), change);
    STEP(what, cuGraphMemcpyNodeSetParams(mc, &params));
  };
  const auto sp = setparams(p);
  const auto cp = dtod(q, p);
  CALL(cuGraphMemsetNodeSetParams(ms, nullptr));
  CALL(cuGraphMemsetNodeSetParams(em, &sp));
  CALL(cuGraphMemsetNodeSetParams(nullptr, &sp));
  set("memset good", [](auto&) {});
  set("memset element size 3", [](auto& c) { c.elementSize = 3; });
  set("memset null dst", [](auto& c) { c.dst = 0; });
  set("memset 2D", [](auto& c) { c.height = 2; });
  set("memset width 0", [](auto& c) { c.width = 0; });
  CALL(cuGraphMemcpyNodeSetParams(mc, nullptr));
  CALL(cuGraphMemcpyNodeSetParams(em, &cp));
  copied("memcpy good", [](auto&) {});
  copied("memcpy null source", [](auto& c) { c.srcDevice = 0; });
  copied("memcpy width 0", [](auto& c) { c.WidthInBytes = 0; });
  copied("memcpy bad memory type", [](auto& c) { c.srcMemoryType = static_cast<CUmemorytype>(9); });
}

CUstreamBatchMemOpParams write_of(CUdeviceptr where) {
  CUstreamBatchMemOpParams one{};
  one.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  one.writeValue.address = where;
  return one;
}

void batch_nodes() {
  boot();
  CUgraph g = graph();
  CUgraphNode em = empty(g);
  CUgraphNode n = nullptr;
  auto operation = write_of(mem());
  CUDA_BATCH_MEM_OP_NODE_PARAMS got{};
  const auto add = [&](const char* what, auto change) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS good{};
    good.ctx = prim;
    good.count = 1;
    good.paramArray = &operation;
    const auto params = with(good, change);
    STEP(what, cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &params));
  };
  CALL(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, nullptr));
  add("no operations", [](auto& c) { c.count = 0; });
  add("null operations", [](auto& c) { c.paramArray = nullptr; });
  add("flags 7", [](auto& c) { c.flags = 7; });
  add("null context", [](auto& c) { c.ctx = nullptr; });
  add("good", [](auto&) {});
  CALL(cuGraphBatchMemOpNodeGetParams(n, &got));
  STEP("count", got.count);
  CALL(cuGraphBatchMemOpNodeGetParams(em, &got));
  CALL(cuGraphBatchMemOpNodeGetParams(n, nullptr));
  CALL(cuGraphBatchMemOpNodeSetParams(n, &got));
  CALL(cuGraphBatchMemOpNodeSetParams(n, nullptr));
  CALL(cuGraphBatchMemOpNodeSetParams(em, &got));
  CUgraphExec x = inst(g);
  CALL(cuGraphExecBatchMemOpNodeSetParams(x, n, &got));
  CALL(cuGraphExecBatchMemOpNodeSetParams(x, em, &got));
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuCtxSynchronize());
}

void semaphore_nodes() {
  boot();
  CUgraph g = graph();
  CUgraphNode em = empty(g);
  CUgraphNode n;
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS sp{};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS wp{};
  CALL(cuGraphAddExternalSemaphoresSignalNode(&n, g, nullptr, 0, nullptr));
  CALL(cuGraphAddExternalSemaphoresSignalNode(&n, g, nullptr, 0, &sp));
  CALL(cuGraphAddExternalSemaphoresWaitNode(&n, g, nullptr, 0, nullptr));
  CALL(cuGraphAddExternalSemaphoresWaitNode(&n, g, nullptr, 0, &wp));
  CALL(cuGraphExternalSemaphoresSignalNodeGetParams(em, &sp));
  CALL(cuGraphExternalSemaphoresSignalNodeSetParams(em, &sp));
  CALL(cuGraphExternalSemaphoresWaitNodeGetParams(em, &wp));
  CALL(cuGraphExternalSemaphoresWaitNodeSetParams(em, &wp));
  CUgraphExec x = inst(g);
  CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams(x, em, &sp));
  CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams(x, em, &wp));
}

void detach() {
  boot();
  CUcontext c = nullptr;
  CUcontext a = ctx2();
  CUstream s = stream();
  CUdeviceptr p = mem();
  CALL(cuCtxAttach(&c, 0));
  CALL(cuCtxDetach(a));
  STEP("after the attachment's end", who(a));
  CALL(cuStreamQuery(s));
  CALL(cuMemFree(p));
  CALL(cuCtxPushCurrent(prim));
  STEP("with another one above", who(a));
  CALL(cuCtxDetach(a));
  STEP("after the last reference's end", who(a));
  CALL(cuStreamQuery(nullptr));
}

}  // namespace

void add_more_graph_arguments(CaseList& list) {
  list.independent("more_arguments_graph_events", event_and_host_nodes);
  list.independent("more_arguments_graph_memory", memory_nodes);
  list.independent("more_arguments_graph_batches", batch_nodes);
  list.independent("more_arguments_graph_semaphores", semaphore_nodes);
  list.chained("more_context_detach", detach);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Executable graphs: parameters set after instantiation, nodes switched off, conditions, destroyed and updated while they run.
#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

// A graph with one node of most kinds, and a kernel node of another graph.
struct Mixed {
  CUdeviceptr p = 0;
  CUdeviceptr q = 0;
  CUevent e = nullptr;
  CUgraph g = nullptr;
  CUgraph o = nullptr;
  CUgraph c = nullptr;  // what the child node was made from
  CUgraphNode k, m, h, em, fk, cp, er, cn;

  explicit Mixed(CUfunction f) {
    p = mem();
    q = mem();
    e = event();
    g = graph();
    o = graph();
    c = graph();
    k = kern(g, f);
    m = mset(g, p);
    h = host(g);
    em = empty(g);
    fk = kern(o, f);
    cp = copy(g, dtod(p, q));
    er = record(g, e);
    kern(c, f);
    cn = child(g, c);
  }
};

void set_kernel_params(CUgraphExec x, CUgraphNode k, CUgraphNode m, CUgraphNode fk, const CUDA_KERNEL_NODE_PARAMS& kp) {
  const auto set = [&](const char* what, auto change) {
    const auto params = with(kp, change);
    STEP(what, cuGraphExecKernelNodeSetParams(x, k, &params));
  };
  CALL(cuGraphExecKernelNodeSetParams(x, k, &kp));
  CALL(cuGraphExecKernelNodeSetParams(x, m, &kp));
  CALL(cuGraphExecKernelNodeSetParams(x, fk, &kp));
  CALL(cuGraphExecKernelNodeSetParams(x, k, nullptr));
  CALL(cuGraphExecKernelNodeSetParams(x, nullptr, &kp));
  CALL(cuGraphExecKernelNodeSetParams(nullptr, k, &kp));
  set("kernel block 0", [](auto& c) { c.blockDimX = 0; });
  set("kernel block 2000", [](auto& c) { c.blockDimX = 2000; });
  set("kernel null func", [](auto& c) { c.func = nullptr; });
  const CUfunction args = fn("args");
  set("kernel with params missing", [&](auto& c) { c.func = args; });
}

void set_memory_params(CUgraphExec x, const Mixed& of) {
  CUgraphNode k = of.k;
  CUgraphNode m = of.m;
  CUgraphNode cp = of.cp;
  const auto sp = setparams(of.q);
  const auto set = [&](const char* what, const CUDA_MEMSET_NODE_PARAMS& params) {
    STEP(what, cuGraphExecMemsetNodeSetParams(x, m, &params, prim));
  };
  CALL(cuGraphExecMemsetNodeSetParams(x, m, &sp, prim));
  CALL(cuGraphExecMemsetNodeSetParams(x, k, &sp, prim));
  CALL(cuGraphExecMemsetNodeSetParams(x, m, &sp, nullptr));
  CALL(cuGraphExecMemsetNodeSetParams(x, m, nullptr, prim));
  set("memset 1D to 2D", setparams(of.q, 16, 2));
  set("memset other width", setparams(of.q, 64, 1));
  set("memset other element size", setparams(of.q, 4, 1, 4));
  const auto c2 = dtod(of.q, of.p);
  const auto two_dimensional = dtod(of.q, of.p, 64, 2);
  CALL(cuGraphExecMemcpyNodeSetParams(x, cp, &c2, prim));
  CALL(cuGraphExecMemcpyNodeSetParams(x, m, &c2, prim));
  STEP("memcpy 1D to 2D", cuGraphExecMemcpyNodeSetParams(x, cp, &two_dimensional, prim));
}

void set_other_params(CUgraphExec x, const Mixed& of) {
  CUgraphNode k = of.k, h = of.h, er = of.er, cn = of.cn, em = of.em;
  CUgraph g = of.g, o = of.o, c = of.c;
  CUevent e = of.e;
  CUDA_HOST_NODE_PARAMS hp{nothing, nullptr};
  CALL(cuGraphExecHostNodeSetParams(x, h, &hp));
  CALL(cuGraphExecHostNodeSetParams(x, k, &hp));
  hp.fn = nullptr;
  STEP("host null fn", cuGraphExecHostNodeSetParams(x, h, &hp));
  CALL(cuGraphExecEventRecordNodeSetEvent(x, er, e));
  CALL(cuGraphExecEventRecordNodeSetEvent(x, er, nullptr));
  CALL(cuGraphExecEventWaitNodeSetEvent(x, er, e));
  CALL(cuGraphExecChildGraphNodeSetParams(x, cn, c));
  CALL(cuGraphExecChildGraphNodeSetParams(x, cn, o));
  CALL(cuGraphExecChildGraphNodeSetParams(x, cn, g));
  CALL(cuGraphExecChildGraphNodeSetParams(x, k, c));
  CUgraphNodeParams np{};
  np.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CALL(cuGraphExecNodeSetParams(x, em, &np));
  CALL(cuGraphExecNodeSetParams(x, k, &np));
  CALL(cuGraphNodeSetParams(k, &np));
  CALL(cuGraphNodeSetParams(em, &np));
}

void set_params() {
  boot();
  CUfunction f = fn("ok");
  CUfunction f2 = fn("ok2");
  const Mixed of{f};
  CUgraphExec x = inst(of.g);
  const auto kp = kparams(f2, 7);
  CUgraphNode k = of.k;
  set_kernel_params(x, k, of.m, of.fk, kp);
  set_memory_params(x, of);
  set_other_params(x, of);
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuCtxSynchronize());
  CUgraphNode late = kern(of.g, f);
  STEP("node added after instantiation", cuGraphExecKernelNodeSetParams(x, late, &kp));
  CALL(cuGraphKernelNodeSetParams(k, &kp));
  CUDA_KERNEL_NODE_PARAMS got{};
  CALL(cuGraphKernelNodeGetParams(k, &got));
  STEP("grid read back", got.gridDimX);
  STEP("function read back", got.func == f2);
  const auto no_grid = with(kp, [](auto& c) { c.gridDimX = 0; });
  STEP("cuGraphKernelNodeSetParams grid 0", cuGraphKernelNodeSetParams(k, &no_grid));
}

void enable() {
  boot();
  const Mixed of{fn("ok")};
  CUgraphNode k = of.k;
  CUgraphExec x = inst(of.g);
  unsigned en = 77;
  const auto try_node = [&](const std::string& name, CUgraphNode n) {
    en = 77;
    STEP("get " + name, cuGraphNodeGetEnabled(x, n, &en));
    STEP("enabled " + name, en);
    STEP("disable " + name, cuGraphNodeSetEnabled(x, n, 0));
    en = 77;
    cuGraphNodeGetEnabled(x, n, &en);
    STEP("then " + name, en);
  };
  try_node("kernel", of.k);
  try_node("memset", of.m);
  try_node("memcpy", of.cp);
  try_node("host", of.h);
  try_node("empty", of.em);
  try_node("event record", of.er);
  try_node("child graph", of.cn);
  try_node("foreign kernel", of.fk);
  CALL(cuGraphNodeSetEnabled(x, k, 5));
  en = 77;
  CALL(cuGraphNodeGetEnabled(x, k, &en));
  STEP("after setting 5", en);
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuCtxSynchronize());
}

void disabled_node_skipped() {
  boot();
  CUdeviceptr p = mem(4);
  SETUP(cuMemsetD32(p, 0, 1));
  CUgraph g = graph();
  const auto nine = with(setparams(p, 1, 1, 4), [](auto& c) { c.value = 9; });
  CUgraphNode n = nullptr;
  SETUP(cuGraphAddMemsetNode(&n, g, nullptr, 0, &nine, prim));
  CUgraphExec x = inst(g);
  int v = -1;
  SETUP(cuGraphNodeSetEnabled(x, n, 0));
  CALL(cuGraphLaunch(x, nullptr));
  SETUP(cuMemcpyDtoH(&v, p, 4));
  STEP("value after a launch with the node disabled", v);
  SETUP(cuGraphNodeSetEnabled(x, n, 1));
  CALL(cuGraphLaunch(x, nullptr));
  SETUP(cuMemcpyDtoH(&v, p, 4));
  STEP("value after enabling it", v);
}

// Adds an IF node whose condition is `initially`, and answers the graph of its body.
CUgraph conditional_body(CUgraph g, unsigned initially) {
  CUgraphNodeParams params{};
  CUgraphNode n;
  SETUP(cuGraphConditionalHandleCreate(&params.conditional.handle, g, prim, initially, CU_GRAPH_COND_ASSIGN_DEFAULT));
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = prim;
  SETUP(cuGraphAddNode(&n, g, nullptr, nullptr, 0, &params));
  return params.conditional.phGraph_out != nullptr ? params.conditional.phGraph_out[0] : nullptr;
}

void conditional_if(unsigned initially) {
  boot();
  CUdeviceptr d = mem(4);
  SETUP(cuMemsetD32(d, 0, 1));
  CUgraph g = graph();
  CUgraph b = conditional_body(g, initially);
  const auto five = with(setparams(d, 1, 1, 4), [](auto& c) { c.value = 5; });
  CUgraphNode m;
  STEP("memset node in the body", cuGraphAddMemsetNode(&m, b, nullptr, 0, &five, prim));
  CUgraphExec x = inst(g);
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuCtxSynchronize());
  int got = -1;
  SETUP(cuMemcpyDtoH(&got, d, 4));
  STEP("value", got);
}

struct BodyNode {
  const char* kind;
  CUresult (*add)(CUgraph body);
};

const BodyNode body_nodes[] = {
    {"host",
     [](CUgraph b) {
       CUgraphNode m;
       const CUDA_HOST_NODE_PARAMS params{nothing, nullptr};
       return cuGraphAddHostNode(&m, b, nullptr, 0, &params);
     }},
    {"alloc",
     [](CUgraph b) {
       CUgraphNode m;
       auto params = alloc_params();
       return cuGraphAddMemAllocNode(&m, b, nullptr, 0, &params);
     }},
    {"event_record", [](CUgraph b) { CUgraphNode m; return cuGraphAddEventRecordNode(&m, b, nullptr, 0, event()); }},
    {"kernel",
     [](CUgraph b) {
       CUgraphNode m;
       const auto params = kparams(fn("ok"));
       return cuGraphAddKernelNode(&m, b, nullptr, 0, &params);
     }},
    {"empty", [](CUgraph b) { CUgraphNode m; return cuGraphAddEmptyNode(&m, b, nullptr, 0); }},
};

void conditional_body_with(const BodyNode& node) {
  boot();
  CUgraph g = graph();
  CUgraph b = conditional_body(g, 1);
  STEP(std::string{"add to the body: "} + node.kind, node.add(b));
  STEP("instantiate", inst_params(g, 0));
  CALL(cuGraphDestroy(b));
}

void destroyed_while_running() {
  boot();
  static Gate gate;
  static std::atomic<int> ran;
  CUstream s = stream();
  CUgraph g = graph();
  host(g, count_up, &ran, {host(g, gate_fn, &gate)});
  CUgraphExec x = inst(g);
  CALL(cuGraphLaunch(x, s));
  CALL(cuStreamQuery(s));
  STEP("the same exec launched again while running", cuGraphLaunch(x, s));
  CALL(cuGraphExecDestroy(x));
  CALL(cuGraphDestroy(g));
  CALL(cuStreamQuery(s));
  STEP("ran", ran.load());
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
  STEP("ran", ran.load());
}

void updated_while_running() {
  boot();
  static Gate gate;
  static std::atomic<int> one;
  static std::atomic<int> two;
  CUstream s = stream();
  CUgraph g = graph();
  CUgraph h = graph();
  host(g, count_up, &one, {host(g, gate_fn, &gate)});
  host(h, count_up, &two, {host(h)});
  CUgraphExec x = inst(g);
  SETUP(cuGraphLaunch(x, s));
  STEP("update while running", update(x, h));
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
  STEP("old function ran", one.load());
  STEP("new function ran", two.load());
  CALL(cuGraphLaunch(x, s));
  CALL(cuStreamSynchronize(s));
  STEP("old function ran", one.load());
  STEP("new function ran", two.load());
}

}  // namespace

void add_graph_exec(CaseList& list) {
  list.independent("graph_exec_set_params", set_params);
  list.independent("graph_enable", enable);
  list.chained("graph_disabled_node_skipped", disabled_node_skipped);
  list.chained("graph_conditional_if_default_0", [] { conditional_if(0); });
  list.chained("graph_conditional_if_default_1", [] { conditional_if(1); });
  for (const BodyNode& node : body_nodes)
    list.chained(std::string{"graph_conditional_body_"} + node.kind, [&node] { conditional_body_with(node); });
  list.chained("graph_exec_destroy_while_running", destroyed_while_running);
  list.chained("graph_update_while_running", updated_while_running);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Graphs: edges, cycles, queries, destroyed nodes and graphs, child graphs, instantiation.
#include <algorithm>
#include <iterator>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

void dependencies() {
  boot();
  CUgraph g = graph();
  CUgraph o = graph();
  CUgraphNode a = empty(g);
  CUgraphNode b = empty(g, {a});
  CUgraphNode c = empty(g);
  CUgraphNode f = empty(o);
  CUgraphNode n;
  STEP("edges", edges(g));
  CALL(cuGraphAddDependencies(g, &a, &b, nullptr, 1));
  STEP("edges after a duplicate", edges(g));
  CALL(cuGraphAddDependencies(g, &a, &a, nullptr, 1));
  CALL(cuGraphAddDependencies(g, &a, &f, nullptr, 1));
  CALL(cuGraphAddDependencies(g, &f, &a, nullptr, 1));
  CALL(cuGraphAddDependencies(o, &a, &c, nullptr, 1));
  CALL(cuGraphAddEmptyNode(&n, g, &f, 1));
  const Nodes twice{a, a};
  STEP("cuGraphAddEmptyNode the same dependency twice", cuGraphAddEmptyNode(&n, g, twice.data(), 2));
  STEP("nodes", count_nodes(g));
  const auto add = [&](const Nodes& from, const Nodes& to) {
    return cuGraphAddDependencies(g, from.data(), to.data(), nullptr, from.size());
  };
  STEP("cuGraphAddDependencies two edges", add({a, b}, {c, c}));
  STEP("edges", edges(g));
  STEP("one good edge and one foreign edge", add({b, f}, {a, c}));
  STEP("edges", edges(g));
  CALL(cuGraphRemoveDependencies(g, &c, &a, nullptr, 1));
  CALL(cuGraphRemoveDependencies(g, &a, &b, nullptr, 1));
  STEP("edges", edges(g));
  CALL(cuGraphRemoveDependencies(g, &a, &b, nullptr, 1));
  CALL(cuGraphRemoveDependencies(g, nullptr, nullptr, nullptr, 0));
  STEP("dependencies of c", ndeps(c));
  STEP("dependents of a", ndependents(a));
  const auto edge = [&](const char* what, auto change) {
    const CUgraphEdgeData data = with(CUgraphEdgeData{}, change);
    STEP(what, cuGraphAddDependencies(g, &a, &b, &data, 1));
  };
  edge("programmatic edge between empty nodes", [](auto& e) { e.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC; });
  edge("edge of unknown type", [](auto& e) { e.type = 9; });
  edge("edge with from_port 9", [](auto& e) { e.from_port = 9; });
  edge("edge with a reserved byte", [](auto& e) { e.reserved[0] = 1; });
  edge("default edge data", [](auto&) {});
}

void cycle() {
  boot();
  CUgraph g = graph();
  CUgraphNode a = empty(g);
  CUgraphNode b = empty(g, {a});
  CUgraphNode c = empty(g, {b});
  CALL(cuGraphAddDependencies(g, &c, &a, nullptr, 1));
  STEP("edges", edges(g));
  std::size_t k = 77;
  CALL(cuGraphGetRootNodes(g, nullptr, &k));
  STEP("roots", k);
  CUgraphExec x;
  CALL(cuGraphInstantiate(&x, g, 0));
  STEP("with params", inst_params(g, 0));
  CUgraph cl;
  CUgraph p = graph();
  CUgraphNode n;
  CALL(cuGraphClone(&cl, g));
  CALL(cuGraphAddChildGraphNode(&n, p, nullptr, 0, g));
  CALL(cuGraphRemoveDependencies(g, &c, &a, nullptr, 1));
  CALL(cuGraphInstantiate(&x, g, 0));
}

void getters() {
  boot();
  CUgraph g = graph();
  CUgraphNode a = empty(g);
  CUgraphNode b = empty(g, {a});
  CUgraphNode c = empty(g, {a, b});
  CUgraphNode v[6];
  CUgraphNode w[6];
  CUgraphEdgeData ed[6];
  const auto untouched = reinterpret_cast<CUgraphNode>(1);
  const auto clear = [&] { std::fill(std::begin(v), std::end(v), untouched); };
  std::size_t k = 2;
  clear();
  CALL(cuGraphGetNodes(g, v, &k));
  STEP("count", k);
  STEP("third slot untouched", v[2] == untouched);
  k = 5;
  clear();
  CALL(cuGraphGetNodes(g, v, &k));
  STEP("count", k);
  STEP("fourth slot null", v[3] == nullptr);
  STEP("fifth slot null", v[4] == nullptr);
  k = 0;
  CALL(cuGraphGetNodes(g, v, &k));
  STEP("count", k);
  k = 77;
  CALL(cuGraphGetNodes(g, nullptr, &k));
  STEP("count", k);
  STEP("in order of creation", v[0] == a && v[1] == b && v[2] == c);
  k = 6;
  CALL(cuGraphGetRootNodes(g, v, &k));
  STEP("roots", k);
  STEP("root is a", v[0] == a);
  k = 6;
  CALL(cuGraphGetEdges(g, v, w, ed, &k));
  STEP("edges", k);
  STEP("first edge a to b", v[0] == a && w[0] == b);
  k = 1;
  CALL(cuGraphGetEdges(g, v, w, nullptr, &k));
  STEP("edges", k);
  k = 6;
  CALL(cuGraphGetEdges(g, v, nullptr, nullptr, &k));
  k = 6;
  CALL(cuGraphNodeGetDependencies(c, v, nullptr, &k));
  STEP("dependencies of c", k);
  STEP("first is a", v[0] == a);
  k = 6;
  CALL(cuGraphNodeGetDependentNodes(a, v, nullptr, &k));
  STEP("dependents of a", k);
  k = 1;
  clear();
  CALL(cuGraphNodeGetDependentNodes(a, v, nullptr, &k));
  STEP("dependents", k);
}

void node_destroyed() {
  boot();
  CUgraph g = graph();
  CUgraphNode a = empty(g);
  CUgraphNode b = empty(g, {a});
  CUgraphNode c = empty(g, {b});
  CALL(cuGraphDestroyNode(b));
  STEP("nodes", count_nodes(g));
  STEP("edges", edges(g));
  STEP("dependencies of c", ndeps(c));
  STEP("dependents of a", ndependents(a));
  CUgraphExec x = inst(g);
  CALL(cuGraphDestroyNode(a));
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuGraphDestroyNode(c));
  CALL(cuGraphDestroy(g));
}

void node_destroyed_twice() {
  boot();
  CUgraphNode a = empty(graph());
  CALL(cuGraphDestroyNode(a));
  CALL(cuGraphDestroyNode(a));
}

void used_after_destroy() {
  boot();
  CUgraph g = graph();
  empty(g);
  CALL(cuGraphDestroy(g));
  std::size_t k;
  CUgraphNode n;
  CUgraphExec x;
  CALL(cuGraphGetNodes(g, nullptr, &k));
  CALL(cuGraphAddEmptyNode(&n, g, nullptr, 0));
  CALL(cuGraphInstantiate(&x, g, 0));
}

void node_after_graph() {
  boot();
  CUgraph g = graph();
  CUgraphNode n = empty(g);
  CALL(cuGraphDestroy(g));
  CALL(cuGraphDestroyNode(n));
}

void exec_used_after_destroy() {
  boot();
  CUgraph g = graph();
  empty(g);
  CUgraphExec x = inst(g);
  CALL(cuGraphExecDestroy(x));
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuGraphUpload(x, nullptr));
  cuuint64_t f;
  CALL(cuGraphExecGetFlags(x, &f));
}

void child_graph() {
  boot();
  CUfunction f = fn("ok");
  CUgraph g = graph();
  CUgraph c = graph();
  CUgraph e = nullptr;
  CUgraph e2 = nullptr;
  CUgraphNode k = kern(c, f);
  CUgraphNode n = nullptr;
  CUgraphNode m;
  CALL(cuGraphAddChildGraphNode(&n, g, nullptr, 0, c));
  CALL(cuGraphChildGraphNodeGetGraph(n, &e));
  STEP("embedded graph differs", e != c && e != nullptr);
  CALL(cuGraphChildGraphNodeGetGraph(n, &e2));
  STEP("same handle again", e == e2);
  empty(c);
  STEP("nodes in the embedded graph", count_nodes(e));
  CALL(cuGraphNodeFindInClone(&m, k, e));
  CALL(cuGraphAddEmptyNode(&m, e, nullptr, 0));
  STEP("nodes in the embedded graph", count_nodes(e));
  CUgraphExec x = nullptr;
  CALL(cuGraphInstantiate(&x, g, 0));
  CALL(cuGraphLaunch(x, nullptr));
  CALL(cuGraphDestroy(e));
  STEP("nodes in g", count_nodes(g));
  CALL(cuGraphDestroyNode(n));
  STEP("nodes in g", count_nodes(g));
}

void instantiate() {
  boot();
  CUfunction f = fn("ok");
  CUstream s = stream();
  CUgraph g = graph();
  CUgraphExec x = nullptr;
  cuuint64_t fl = 99;
  CALL(cuGraphInstantiate(&x, g, 0));
  CALL(cuGraphLaunch(x, s));
  CALL(cuGraphExecGetFlags(x, &fl));
  STEP("flags", fl);
  STEP("empty with params", inst_params(g, 0));
  kern(g, f);
  constexpr auto auto_free = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  constexpr auto device_launch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  constexpr auto priority = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  constexpr auto upload = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  STEP("flags 0", inst_params(g, 0));
  STEP("auto free", inst_params(g, auto_free));
  STEP("upload", inst_params(g, upload));
  STEP("device launch", inst_params(g, device_launch));
  STEP("device launch and auto free", inst_params(g, device_launch | auto_free));
  STEP("node priority", inst_params(g, priority));
  STEP("unknown flag", inst_params(g, 0x100));
  STEP("cuGraphInstantiate with the upload flag", cuGraphInstantiate(&x, g, upload));
  CUgraph h = graph();
  host(h);
  STEP("device launch of a host node", inst_params(h, device_launch));
  SETUP(cuGraphInstantiate(&x, g, auto_free | priority));
  CALL(cuGraphExecGetFlags(x, &fl));
  STEP("flags", fl);
  CALL(cuGraphUpload(x, s));
  CALL(cuGraphUpload(x, s));
  CALL(cuStreamSynchronize(s));
}

void two_contexts() {
  boot();
  CUfunction f = fn("ok");
  ctx2();
  CUfunction f2 = fn("ok", module_of(PTX));
  CUgraph g = graph();
  kern(g, f);
  kern(g, f2);
  STEP("kernels of two contexts", inst_params(g, 0));
  CUgraphExec x;
  STEP("plain", cuGraphInstantiate(&x, g, 0));
  CUstream s = stream();
  CUgraph h = graph();
  kern(h, f);
  x = inst(h);
  STEP("launch on a stream of another context", cuGraphLaunch(x, s));
  SETUP(cuCtxSetCurrent(prim));
  STEP("launch with the kernel's context current", cuGraphLaunch(x, s));
}

}  // namespace

void add_graph_structure(CaseList& list) {
  list.independent("graph_dependencies", dependencies);
  list.chained("graph_cycle", cycle);
  list.independent("graph_getters", getters);
  list.chained("graph_destroy_node", node_destroyed);
  list.chained("graph_destroy_node_twice", node_destroyed_twice);
  list.chained("graph_use_after_destroy", used_after_destroy);
  list.chained("graph_node_after_graph_destroy", node_after_graph);
  list.chained("graph_exec_use_after_destroy", exec_used_after_destroy);
  list.chained("graph_child", child_graph);
  list.chained("graph_instantiate", instantiate);
  list.chained("graph_instantiate_two_contexts", two_contexts);
}

}  // namespace probe

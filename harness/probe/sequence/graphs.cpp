// SPDX-License-Identifier: Apache-2.0
// Steps of random sequences: graphs, modules, capture.
#include "sequence/world.h"

namespace probe::sequence::steps {
namespace {

const char* const program =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ok() { ret; }\n"
    ".visible .entry two(.param .u64 a, .param .u32 b) { ret; }\n";

Node& any_node(World& w) { return w.nodes[w.dice.roll(static_cast<unsigned>(w.nodes.size()))]; }

}  // namespace

void create_graph(World& w) {
  CUgraph g = nullptr;
  if (w.graphs.size() < 5 && row("cuGraphCreate", cuGraphCreate(&g, w.dice.chance(8) ? 1 : 0))) w.keep(w.graphs, g);
}

void add_node(World& w) {
  const auto g = w.any_or_null(w.graphs, 6);
  std::vector<CUgraphNode> after;
  std::string names;
  for (unsigned left = w.dice.roll(3); left > 0 && !w.nodes.empty(); left--) {
    const Node& before = any_node(w);
    if (before.graph != g.id && !w.dice.chance(15)) continue;
    after.push_back(before.handle);
    names += " n" + std::to_string(before.id);
  }
  CUgraphNode n = nullptr;
  const std::string label = "cuGraphAddEmptyNode(" + name("g", g.id) + "," + names + ")";
  if (row(label, cuGraphAddEmptyNode(&n, g.handle, after.data(), after.size()))) w.keep_node(n, g.id);
}

void change_edge(World& w) {
  if (w.nodes.size() < 2) return;
  const Node from = any_node(w);
  const Node to = any_node(w);
  const auto* g = w.any(w.graphs);
  if (g == nullptr) return;
  const bool add = w.dice.chance(70);
  const auto change = add ? cuGraphAddDependencies : cuGraphRemoveDependencies;
  row(std::string{add ? "cuGraphAddDependencies(" : "cuGraphRemoveDependencies("} + name("g", g->id) + ",n" +
          std::to_string(from.id) + ",n" + std::to_string(to.id) + ")",
      change(g->handle, &from.handle, &to.handle, nullptr, 1));
}

void query_graph(World& w) {
  const auto* g = w.any(w.graphs);
  if (g == nullptr) return;
  std::size_t nodes = 0;
  std::size_t edges = 0;
  const CUresult result = cuGraphGetNodes(g->handle, nullptr, &nodes);
  cuGraphGetEdges(g->handle, nullptr, nullptr, nullptr, &edges);
  const std::string which = "(" + name("g", g->id) + ")";
  row("cuGraphGetNodes/Edges" + which, result, " " + std::to_string(nodes) + "/" + std::to_string(edges));
  CUgraphExec x = nullptr;
  if (w.dice.chance(50) && row("cuGraphInstantiate" + which, cuGraphInstantiate(&x, g->handle, 0))) w.keep(w.execs, x);
}

void launch_graph(World& w) {
  const auto* picked = w.any(w.execs);
  const auto s = w.any_or_null(w.streams, 20);
  if (picked == nullptr) return;
  const auto x = *picked;
  row("cuGraphLaunch(" + name("x", x.id) + "," + name("s", s.id) + ")", cuGraphLaunch(x.handle, s.handle));
  row("sync", cuStreamSynchronize(s.handle));
  if (!w.dice.chance(25)) return;
  if (row("cuGraphExecDestroy(" + name("x", x.id) + ")", cuGraphExecDestroy(x.handle))) w.drop(w.execs, x.id);
}

void destroy_in_graph(World& w) {
  if (!w.nodes.empty() && w.dice.chance(50)) {
    const Node n = any_node(w);
    if (!row("cuGraphDestroyNode(n" + std::to_string(n.id) + ")", cuGraphDestroyNode(n.handle))) return;
    std::erase_if(w.nodes, [&](const Node& one) { return one.id == n.id; });
    return;
  }
  const auto* picked = w.any(w.graphs);
  if (picked == nullptr) return;
  const auto g = *picked;
  if (!row("cuGraphDestroy(" + name("g", g.id) + ")", cuGraphDestroy(g.handle))) return;
  w.drop(w.graphs, g.id);
  std::erase_if(w.nodes, [&](const Node& one) { return one.graph == g.id; });
}

namespace {

void launch_function(World& w, const Object<CUmodule>& m) {
  static const std::string names[] = {"ok", "two", "nosuch", "ok"};
  static constexpr unsigned blocks[] = {1, 32, 1024, 1025, 0};
  CUfunction f = nullptr;
  const std::string& kernel = names[w.dice.roll(4)];
  const auto s = w.any_or_null(w.streams, 20);
  const std::string label = "cuModuleGetFunction(" + name("d", m.id) + "," + kernel + ")";
  if (!row(label, cuModuleGetFunction(&f, m.handle, kernel.c_str())) || kernel != "ok") return;
  const unsigned block = blocks[w.dice.roll(5)];
  row("cuLaunchKernel(" + std::to_string(block) + "," + name("s", s.id) + ")",
      cuLaunchKernel(f, 1, 1, 1, block, 1, 1, 0, s.handle, nullptr, nullptr));
  row("sync", cuCtxSynchronize());
}

}  // namespace

void use_module(World& w) {
  const auto* picked = w.any(w.modules);
  if (picked == nullptr || w.dice.chance(25)) {
    CUmodule m = nullptr;
    if (row("cuModuleLoadData", cuModuleLoadData(&m, program))) w.keep(w.modules, m);
    return;
  }
  const auto m = *picked;
  if (w.dice.chance(70)) {
    launch_function(w, m);
  } else if (row("cuModuleUnload(" + name("d", m.id) + ")", cuModuleUnload(m.handle))) {
    w.drop(w.modules, m.id);
  }
}

namespace {

void call_during_capture(World& w, CUstream s) {
  switch (w.dice.roll(6)) {
    case 0:
      if (const auto* m = w.any(w.plain_memory))
        row("in capture: cuMemsetD8Async", cuMemsetD8Async(m->handle, 1, 1, s));
      break;
    case 1:
      row("in capture: cuStreamQuery", cuStreamQuery(s));
      break;
    case 2:
      if (const auto* e = w.any(w.events))
        row("in capture: cuEventRecord(" + name("e", e->id) + ")", cuEventRecord(e->handle, s));
      break;
    case 3: {
      CUdeviceptr p = 0;
      if (row("in capture: cuMemAlloc", cuMemAlloc(&p, 64))) w.keep_memory(w.plain_memory, p, 64);
      break;
    }
    case 4: {
      auto status = static_cast<CUstreamCaptureStatus>(9);
      const CUresult result = cuStreamIsCapturing(s, &status);
      row("in capture: cuStreamIsCapturing", result, " " + std::to_string(static_cast<int>(status)));
      break;
    }
    default:
      row("in capture: cuCtxSynchronize", cuCtxSynchronize());
  }
}

}  // namespace

void capture(World& w) {
  const auto* picked = w.any(w.streams);
  if (picked == nullptr) return;
  const auto s = *picked;
  cuCtxSynchronize();
  const unsigned mode = w.dice.roll(3);
  const std::string label = "cuStreamBeginCapture(" + name("s", s.id) + "," + std::to_string(mode) + ")";
  if (!row(label, cuStreamBeginCapture(s.handle, static_cast<CUstreamCaptureMode>(mode)))) return;
  for (unsigned left = w.dice.roll(4); left > 0; left--) call_during_capture(w, s.handle);
  CUgraph g = nullptr;
  const CUresult result = cuStreamEndCapture(s.handle, &g);
  std::size_t nodes = 0;
  if (g != nullptr) cuGraphGetNodes(g, nullptr, &nodes);
  if (row("cuStreamEndCapture", result, g != nullptr ? " graph of " + std::to_string(nodes) : " null") && g != nullptr)
    cuGraphDestroy(g);
}

}  // namespace probe::sequence::steps

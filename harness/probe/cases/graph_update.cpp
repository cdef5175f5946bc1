// SPDX-License-Identifier: Apache-2.0
// Which changes of a graph an executable takes over, and how it refuses the others.
#include <functional>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

// A row: an executable of one graph, updated with another.
void changed(const char* what, CUgraph from, CUgraph to) { STEP(what, update(inst(from), to)); }

struct UpdateRows {
  CUfunction f = nullptr;
  CUfunction f2 = nullptr;
  CUfunction sm = nullptr;
  CUdeviceptr p = 0;
  CUdeviceptr q = 0;
  void* hb = nullptr;
  CUevent e1 = nullptr;
  CUevent e2 = nullptr;
  CUgraph k1 = nullptr;   // one kernel
  CUgraph two = nullptr;  // two kernels, the second after the first
  CUgraph m1 = nullptr;   // one memset

  UpdateRows() {
    boot();
    f = fn("ok");
    f2 = fn("ok2");
    sm = fn("smem");
    p = mem();
    q = mem();
    hb = pinned(4096);
    e1 = event();
    e2 = event();
    k1 = kernel(f);
  }

  [[nodiscard]] CUgraph kernel(CUfunction which, unsigned grid = 1) const {
    return graph_with([&](CUgraph g) { kern(g, which, {}, grid); });
  }
  [[nodiscard]] CUgraph memset(const CUDA_MEMSET_NODE_PARAMS& params, CUcontext where = prim) const {
    return graph_with([&](CUgraph g) {
      CUgraphNode n;
      SETUP(cuGraphAddMemsetNode(&n, g, nullptr, 0, &params, where));
    });
  }
  [[nodiscard]] CUgraph memcpy(const CUDA_MEMCPY3D& params) const {
    return graph_with([&](CUgraph g) { copy(g, params); });
  }
  [[nodiscard]] CUgraph recorded(CUevent e) const {
    return graph_with([&](CUgraph g) { record(g, e); });
  }
  [[nodiscard]] CUgraph waited(CUevent e) const {
    return graph_with([&](CUgraph g) {
      CUgraphNode n;
      SETUP(cuGraphAddEventWaitNode(&n, g, nullptr, 0, e));
    });
  }
  [[nodiscard]] CUgraph allocating(std::size_t bytes) const;
  [[nodiscard]] CUgraph with_child(int kernels) const;
  [[nodiscard]] CUgraph with_attributes(int priority, int cooperative) const;
  [[nodiscard]] CUgraph conditional(CUgraphConditionalNodeType type, unsigned size) const;

  void kernels();
  void structure();
  void memory_work();
  void other_nodes();
  void attributes();
  void contexts();
  void clusters_and_conditions();
};

CUgraph UpdateRows::allocating(std::size_t bytes) const {
  return graph_with([&](CUgraph g) {
    CUgraphNode n = nullptr;
    CUgraphNode m;
    auto params = alloc_params(bytes);
    SETUP(cuGraphAddMemAllocNode(&n, g, nullptr, 0, &params));
    SETUP(cuGraphAddMemFreeNode(&m, g, &n, 1, params.dptr));
  });
}

CUgraph UpdateRows::with_child(int count) const {
  return graph_with([&](CUgraph g) {
    CUgraph inner = graph();
    for (int i = 0; i < count; i++) kern(inner, f);
    child(g, inner);
  });
}

CUgraph UpdateRows::with_attributes(int priority, int cooperative) const {
  return graph_with([&](CUgraph g) {
    CUgraphNode n = kern(g, f);
    CUkernelNodeAttrValue v{};
    if (priority != 0) {
      v.priority = priority;
      SETUP(cuGraphKernelNodeSetAttribute(n, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &v));
    }
    if (cooperative != 0) {
      v = {};
      v.cooperative = cooperative;
      SETUP(cuGraphKernelNodeSetAttribute(n, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &v));
    }
  });
}

CUgraph UpdateRows::conditional(CUgraphConditionalNodeType type, unsigned size) const {
  return graph_with([&](CUgraph g) {
    CUgraphNodeParams params{};
    CUgraphNode n;
    SETUP(cuGraphConditionalHandleCreate(&params.conditional.handle, g, prim, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = prim;
    SETUP(cuGraphAddNode(&n, g, nullptr, nullptr, 0, &params));
    if (params.conditional.phGraph_out != nullptr) kern(params.conditional.phGraph_out[0], f);
  });
}

void UpdateRows::kernels() {
  changed("identical", k1, kernel(f));
  changed("grid changed", k1, kernel(f, 5));
  changed("function changed", k1, kernel(f2));
  changed("function with other shared memory", k1, kernel(sm));
  changed("itself", k1, k1);
}

void UpdateRows::structure() {
  changed("node added", k1, graph_with([&](CUgraph g) { kern(g, f), kern(g, f); }));
  changed("node removed", k1, graph());
  changed("kernel to memset", k1, graph_with([&](CUgraph g) { mset(g, p); }));
  changed("kernel to empty", k1, graph_with([](CUgraph g) { empty(g); }));
  changed("empty graph with an empty graph", graph(), graph());
  two = graph_with([&](CUgraph g) { kern(g, f2, {kern(g, f)}); });
  changed("edge removed", two, graph_with([&](CUgraph g) { kern(g, f), kern(g, f2); }));
  changed("edge reversed", two, graph_with([&](CUgraph g) {
            CUgraphNode first = kern(g, f);
            CUgraphNode second = kern(g, f2);
            SETUP(cuGraphAddDependencies(g, &second, &first, nullptr, 1));
          }));
  changed("second node's type changed", two, graph_with([&](CUgraph g) { mset(g, p, {kern(g, f)}); }));
}

void UpdateRows::memory_work() {
  m1 = graph_with([&](CUgraph g) { mset(g, p); });
  changed("memset other pointer", m1, memset(setparams(q)));
  changed("memset other width", m1, memset(setparams(p, 32)));
  changed("memset to 2D", m1, memset(setparams(p, 16, 2)));
  changed("memset other element size", m1, memset(setparams(p, 4, 1, 4)));
  const CUgraph c1 = memcpy(dtod(p, q));
  changed("memcpy pointers swapped", c1, memcpy(dtod(q, p)));
  changed("memcpy other width", c1, memcpy(dtod(p, q, 128)));
  changed("memcpy DtoD to HtoD", c1, memcpy(with(dtod(p, q), [&](auto& c) {
            c.srcMemoryType = CU_MEMORYTYPE_HOST;
            c.srcHost = hb;
          })));
  changed("memcpy 1D to 2D", c1, memcpy(dtod(p, q, 64, 2)));
}

void UpdateRows::other_nodes() {
  static std::atomic<int> calls;
  const CUgraph h1 = graph_with([](CUgraph g) { host(g); });
  changed("host function changed", h1, graph_with([](CUgraph g) { host(g, count_up, &calls); }));
  changed("event changed", recorded(e1), recorded(e2));
  changed("event record to event wait", recorded(e1), waited(e1));
  changed("alloc and free against another such graph", allocating(4096), allocating(4096));
  changed("alloc size changed", allocating(4096), allocating(8192));
  const CUgraph ag = allocating(4096);
  changed("alloc graph with itself", ag, ag);
  changed("child graph the same", with_child(1), with_child(1));
  changed("child graph with another node", with_child(1), with_child(2));
}

void UpdateRows::attributes() {
  changed("priority attribute changed", with_attributes(0, 0), with_attributes(-1, 0));
  changed("cooperative attribute changed", with_attributes(0, 0), with_attributes(0, 1));
  changed("cooperative attribute dropped", with_attributes(0, 1), with_attributes(0, 0));
  const CUgraph cyclic = graph_with([&](CUgraph g) {
    CUgraphNode first = kern(g, f);
    CUgraphNode second = kern(g, f2, {first});
    SETUP(cuGraphAddDependencies(g, &second, &first, nullptr, 1));
  });
  changed("update with a cyclic graph", two, cyclic);
}

void UpdateRows::contexts() {
  CUcontext oc = ctx2();
  CUfunction of = fn("ok", module_of(PTX));
  changed("function of another context", k1, kernel(of));
  SETUP(cuCtxSetCurrent(prim));
  changed("memset of another context", m1, memset(setparams(p), oc));
}

void UpdateRows::clusters_and_conditions() {
  CUmodule m = module_of(PTX90);
  CUfunction plain = fn("plain", m);
  CUfunction fixed = fn("fixed2", m);
  changed("plain function to one with a fixed cluster", kernel(plain, 8), kernel(fixed, 8));
  changed("fixed cluster to a plain function", kernel(fixed, 8), kernel(plain, 8));
  constexpr auto IF = CU_GRAPH_COND_TYPE_IF;
  changed("conditional node against another such node", conditional(IF, 1), conditional(IF, 1));
  changed("IF to WHILE", conditional(IF, 1), conditional(CU_GRAPH_COND_TYPE_WHILE, 1));
  changed("IF of size 1 to size 2", conditional(IF, 1), conditional(IF, 2));
}

void all() {
  UpdateRows rows;
  rows.kernels();
  rows.structure();
  rows.memory_work();
  rows.other_nodes();
  rows.attributes();
  rows.contexts();
  rows.clusters_and_conditions();
}

}  // namespace

void add_graph_update(CaseList& list) { list.independent("graph_exec_update", all); }

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Graphs that allocate and free memory.
#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

struct MemoryRows {
  CUstream s = nullptr;
  CUgraph g = nullptr;
  CUgraphNode a = nullptr;
  CUgraphNode fr = nullptr;
  CUgraphNode n;
  CUDA_MEM_ALLOC_NODE_PARAMS ap = alloc_params();

  template <class Change>
  void alloc(const char* what, Change change) {
    auto params = with(alloc_params(), change);
    STEP(what, cuGraphAddMemAllocNode(&n, g, nullptr, 0, &params));
  }

  void alloc_nodes();
  void free_nodes();
  void with_others();
  void executables();
};

void MemoryRows::alloc_nodes() {
  CALL(cuGraphAddMemAllocNode(nullptr, g, nullptr, 0, &ap));
  CALL(cuGraphAddMemAllocNode(&a, g, nullptr, 0, nullptr));
  alloc("alloc size 0", [](auto& c) { c.bytesize = 0; });
  alloc("alloc on device 99", [](auto& c) { c.poolProps.location = DEV99; });
  alloc("alloc type invalid", [](auto& c) { c.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID; });
  alloc("alloc exportable", [](auto& c) { c.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; });
  alloc("alloc 64 TiB", [](auto& c) { c.bytesize = std::size_t{1} << 46; });
  SETUP(cuGraphAddMemAllocNode(&a, g, nullptr, 0, &ap));
  STEP("address set", ap.dptr != 0);
}

void MemoryRows::free_nodes() {
  CUdeviceptr ordinary = mem();
  CALL(cuGraphAddMemFreeNode(&n, g, nullptr, 0, 0));
  CALL(cuGraphAddMemFreeNode(&n, g, nullptr, 0, ordinary));
  CALL(cuGraphAddMemFreeNode(&n, g, nullptr, 0, ap.dptr + 8));
  STEP("free", cuGraphAddMemFreeNode(&fr, g, &a, 1, ap.dptr));
  STEP("free twice", cuGraphAddMemFreeNode(&n, g, &a, 1, ap.dptr));
  CUdeviceptr d = 0;
  CALL(cuGraphMemFreeNodeGetParams(fr, &d));
  STEP("same address", d == ap.dptr);
  CUDA_MEM_ALLOC_NODE_PARAMS out{};
  CALL(cuGraphMemAllocNodeGetParams(a, &out));
  STEP("bytesize", out.bytesize);
  CALL(cuGraphMemAllocNodeGetParams(fr, &out));
}

void MemoryRows::with_others() {
  STEP("nodes", count_nodes(g));
  CUgraph cl;
  CALL(cuGraphClone(&cl, g));
  CUgraph par = graph();
  CALL(cuGraphAddChildGraphNode(&n, par, nullptr, 0, g));
  CALL(cuGraphDestroyNode(a));
  CALL(cuGraphDestroyNode(fr));
  CUgraphNode em = empty(g);
  CALL(cuGraphAddDependencies(g, &a, &em, nullptr, 1));
  CALL(cuGraphRemoveDependencies(g, &a, &fr, nullptr, 1));
  CALL(cuGraphAddMemFreeNode(&n, par, nullptr, 0, ap.dptr));
}

void MemoryRows::executables() {
  CUgraphExec x = nullptr;
  CUgraphExec y = nullptr;
  CALL(cuGraphInstantiate(&x, g, 0));
  CALL(cuGraphInstantiate(&y, g, 0));
  CALL(cuGraphLaunch(x, s));
  CALL(cuGraphLaunch(x, s));
  CALL(cuStreamSynchronize(s));
  CALL(cuGraphExecDestroy(x));
  CALL(cuGraphInstantiate(&y, g, 0));
  cuuint64_t v = 77;
  CALL(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
  STEP("used", v);
  CALL(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &v));
  STEP("reserved", v);
  CALL(cuDeviceGraphMemTrim(dev));
}

void memory_nodes() {
  boot();
  MemoryRows rows;
  rows.s = stream();
  rows.g = graph();
  rows.alloc_nodes();
  rows.free_nodes();
  rows.with_others();
  rows.executables();
}

void alloc_without_free(unsigned long long flags) {
  boot();
  CUstream s = stream();
  CUgraph g = graph();
  CUgraphNode a;
  auto ap = alloc_params();
  SETUP(cuGraphAddMemAllocNode(&a, g, nullptr, 0, &ap));
  CUgraphExec x = inst(g, flags);
  CUdeviceptr b;
  std::size_t z = 0;
  int mt;
  STEP("pointer attribute before the launch", cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ap.dptr));
  STEP("cuMemFree before the launch", cuMemFree(ap.dptr));
  CALL(cuGraphLaunch(x, s));
  CALL(cuStreamSynchronize(s));
  cuuint64_t v = 77;
  SETUP(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
  STEP("used", v);
  SETUP(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &v));
  STEP("reserved", v);
  CALL(cuMemGetAddressRange(&b, &z, ap.dptr));
  STEP("range size", z);
  CALL(cuMemsetD8(ap.dptr, 1, 4096));
  STEP("second launch without a free", cuGraphLaunch(x, s));
  CALL(cuMemFreeAsync(ap.dptr, s));
  CALL(cuMemFree(ap.dptr));
  STEP("launch after the free", cuGraphLaunch(x, s));
  CALL(cuMemFree(ap.dptr));
  CALL(cuGraphExecDestroy(x));
  CALL(cuGraphDestroy(g));
  CALL(cuStreamSynchronize(s));
}

}  // namespace

void add_graph_memory(CaseList& list) {
  list.independent("graph_memory_nodes", memory_nodes);
  list.chained("graph_alloc_without_free", [] { alloc_without_free(0); });
  list.chained("graph_alloc_without_free_autofree",
               [] { alloc_without_free(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH); });
}

}  // namespace probe

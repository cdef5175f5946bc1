// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time: graphs, their nodes and executables, user objects.
#include <cstdlib>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

struct GraphRows {
  CUgraph g = nullptr;
  CUgraph h;
  CUgraphNode n;
  CUgraphNode e = nullptr;  // an empty node of g
  CUgraphExec x = nullptr;
  CUgraphExec y;
  CUstream s = nullptr;
  CUdeviceptr p = 0;
  CUevent ev = nullptr;
  CUDA_KERNEL_NODE_PARAMS kp{};
  CUDA_MEMCPY3D mc{};
  CUDA_MEMSET_NODE_PARAMS ms{};
  CUDA_HOST_NODE_PARAMS hp{};

  GraphRows() {
    boot();
    g = graph();
    kp = kparams(fn("ok"));
    s = stream();
    p = mem();
    ev = event();
    e = empty(g);
    x = inst(g);
    mc = dtod(p + 512, p);
    mc.srcPitch = mc.dstPitch = 0;
    ms.dst = p;
    ms.elementSize = 4;
    ms.width = 4;
    ms.height = 1;
  }

  template <class Change>
  void kernel_node(const char* what, Change change) {
    const auto params = with(kp, change);
    STEP(std::string{"cuGraphAddKernelNode "} + what, cuGraphAddKernelNode(&n, g, nullptr, 0, &params));
  }
  template <class Change>
  void memcpy_node(const char* what, Change change) {
    const auto params = with(mc, change);
    STEP(std::string{"cuGraphAddMemcpyNode "} + what, cuGraphAddMemcpyNode(&n, g, nullptr, 0, &params, prim));
  }
  template <class Change>
  void memset_node(const char* what, Change change) {
    const auto params = with(ms, change);
    STEP(std::string{"cuGraphAddMemsetNode "} + what, cuGraphAddMemsetNode(&n, g, nullptr, 0, &params, prim));
  }

  void kernel_and_empty_nodes();
  void copy_and_set_nodes();
  void other_nodes();
  void queries();
  void executables();
  void parameters();
  void user_objects();
  void conditions();
};

void GraphRows::kernel_and_empty_nodes() {
  CUgraphNode null = nullptr;
  CALL(cuGraphCreate(nullptr, 0));
  CALL(cuGraphCreate(&h, 1));
  CALL(cuGraphAddEmptyNode(nullptr, g, nullptr, 0));
  CALL(cuGraphAddEmptyNode(&n, nullptr, nullptr, 0));
  CALL(cuGraphAddEmptyNode(&n, g, nullptr, 1));
  CALL(cuGraphAddEmptyNode(&n, g, &null, 1));
  CALL(cuGraphAddKernelNode(&n, g, nullptr, 0, nullptr));
  kernel_node("null func", [](auto& c) { c.func = nullptr; });
  kernel_node("grid 0", [](auto& c) { c.gridDimX = 0; });
  kernel_node("block 2000", [](auto& c) { c.blockDimX = 2000; });
  kernel_node("1 MiB shared", [](auto& c) { c.sharedMemBytes = 1 << 20; });
  kernel_node("params missing", [](auto& c) { c.func = fn("args"); });
}

void GraphRows::copy_and_set_nodes() {
  CALL(cuGraphAddMemcpyNode(&n, g, nullptr, 0, nullptr, prim));
  CALL(cuGraphAddMemcpyNode(&n, g, nullptr, 0, &mc, nullptr));
  memcpy_node("width 0", [](auto& c) { c.WidthInBytes = 0; });
  memcpy_node("null source", [](auto& c) { c.srcDevice = 0; });
  memcpy_node("bad memory type", [](auto& c) { c.srcMemoryType = static_cast<CUmemorytype>(9); });
  CALL(cuGraphAddMemsetNode(&n, g, nullptr, 0, nullptr, prim));
  CALL(cuGraphAddMemsetNode(&n, g, nullptr, 0, &ms, nullptr));
  memset_node("element size 3", [](auto& c) { c.elementSize = 3; });
  memset_node("width 0", [](auto& c) { c.width = 0; });
  memset_node("height 0", [](auto& c) { c.height = 0; });
  memset_node("null dst", [](auto& c) { c.dst = 0; });
  memset_node("misaligned dst", [](auto& c) { c.dst += 1; });
  memset_node("pitch below width", [](auto& c) { c.height = 2, c.pitch = 8; });
}

void GraphRows::other_nodes() {
  CALL(cuGraphAddHostNode(&n, g, nullptr, 0, nullptr));
  STEP("cuGraphAddHostNode null fn", cuGraphAddHostNode(&n, g, nullptr, 0, &hp));
  CALL(cuGraphAddChildGraphNode(&n, g, nullptr, 0, nullptr));
  STEP("cuGraphAddChildGraphNode itself", cuGraphAddChildGraphNode(&n, g, nullptr, 0, g));
  CALL(cuGraphAddEventRecordNode(&n, g, nullptr, 0, nullptr));
  CALL(cuGraphAddEventWaitNode(&n, g, nullptr, 0, nullptr));
  CUevent eo;
  CALL(cuGraphEventRecordNodeGetEvent(e, &eo));
  CUgraphNodeParams np{};
  np.type = static_cast<CUgraphNodeType>(77);
  CALL(cuGraphAddNode(&n, g, nullptr, nullptr, 0, &np));
  CALL(cuGraphAddNode(&n, g, nullptr, nullptr, 0, nullptr));
  np.type = CU_GRAPH_NODE_TYPE_EMPTY;
  np.reserved0[0] = 1;
  STEP("cuGraphAddNode reserved field set", cuGraphAddNode(&n, g, nullptr, nullptr, 0, &np));
  np = {};
  np.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  np.eventRecord.event = ev;
  STEP("cuGraphAddNode event record", cuGraphAddNode(&n, g, nullptr, nullptr, 0, &np));
}

void GraphRows::queries() {
  CUgraphNodeType ty;
  std::size_t k;
  CALL(cuGraphClone(nullptr, g));
  CALL(cuGraphClone(&h, nullptr));
  CALL(cuGraphNodeGetType(nullptr, &ty));
  CALL(cuGraphNodeGetType(e, nullptr));
  CALL(cuGraphGetNodes(g, nullptr, nullptr));
  CALL(cuGraphGetNodes(nullptr, nullptr, &k));
  CALL(cuGraphGetRootNodes(g, nullptr, nullptr));
  CALL(cuGraphGetEdges(g, nullptr, nullptr, nullptr, nullptr));
  CALL(cuGraphNodeGetDependencies(nullptr, nullptr, nullptr, &k));
  CALL(cuGraphNodeGetDependencies(e, nullptr, nullptr, nullptr));
  CALL(cuGraphAddDependencies(g, nullptr, nullptr, nullptr, 1));
  CALL(cuGraphAddDependencies(g, nullptr, nullptr, nullptr, 0));
  CALL(cuGraphAddDependencies(nullptr, &e, &e, nullptr, 1));
  CALL(cuGraphNodeFindInClone(nullptr, e, g));
  CALL(cuGraphNodeFindInClone(&n, nullptr, g));
}

void GraphRows::executables() {
  CALL(cuGraphInstantiate(nullptr, g, 0));
  CALL(cuGraphInstantiate(&y, nullptr, 0));
  CALL(cuGraphInstantiate(&y, g, 0x100));
  CALL(cuGraphInstantiateWithParams(&y, g, nullptr));
  CALL(cuGraphLaunch(nullptr, s));
  CALL(cuGraphUpload(nullptr, s));
  CALL(cuGraphUpload(x, s));
  CUgraphExecUpdateResultInfo ui;
  CALL(cuGraphExecUpdate(nullptr, g, &ui));
  CALL(cuGraphExecUpdate(x, nullptr, &ui));
  CALL(cuGraphExecUpdate(x, g, nullptr));
  cuuint64_t fl;
  CALL(cuGraphExecGetFlags(nullptr, &fl));
  CALL(cuGraphExecGetFlags(x, nullptr));
}

void GraphRows::parameters() {
  CALL(cuGraphKernelNodeGetParams(e, &kp));
  CALL(cuGraphMemcpyNodeGetParams(e, &mc));
  CALL(cuGraphMemsetNodeGetParams(e, &ms));
  CALL(cuGraphHostNodeGetParams(e, &hp));
  CALL(cuGraphChildGraphNodeGetGraph(e, &h));
  CALL(cuGraphKernelNodeSetParams(e, &kp));
  CALL(cuGraphKernelNodeSetParams(nullptr, &kp));
  CUkernelNodeAttrValue kv{};
  CALL(cuGraphKernelNodeGetAttribute(e, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &kv));
  CALL(cuGraphKernelNodeCopyAttributes(e, e));
  unsigned en;
  CALL(cuGraphNodeSetEnabled(x, e, 1));
  CALL(cuGraphNodeGetEnabled(x, e, &en));
  CALL(cuGraphNodeGetEnabled(x, e, nullptr));
  CALL(cuGraphNodeSetEnabled(nullptr, e, 1));
}

void GraphRows::user_objects() {
  CUuserObject uo = nullptr;
  CUuserObject u2;
  SETUP(cuUserObjectCreate(&uo, std::malloc(8), std::free, 3, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CALL(cuUserObjectCreate(nullptr, nullptr, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CALL(cuUserObjectCreate(&u2, nullptr, nullptr, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CALL(cuUserObjectCreate(&u2, nullptr, nothing, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CALL(cuUserObjectCreate(&u2, nullptr, nothing, 1, 0));
  CALL(cuUserObjectCreate(&u2, nullptr, nothing, 1, 7));
  CALL(cuUserObjectRetain(uo, 0));
  CALL(cuUserObjectRetain(nullptr, 1));
  CALL(cuUserObjectRetain(uo, 0x80000000u));
  CALL(cuUserObjectRelease(uo, 0));
  CALL(cuGraphRetainUserObject(g, nullptr, 1, 0));
  CALL(cuGraphRetainUserObject(nullptr, uo, 1, 0));
  CALL(cuGraphRetainUserObject(g, uo, 0, 0));
  CALL(cuGraphRetainUserObject(g, uo, 1, 7));
  CALL(cuGraphReleaseUserObject(g, nullptr, 1));
  CALL(cuGraphReleaseUserObject(g, uo, 1));
}

void GraphRows::conditions() {
  CUgraphConditionalHandle ch;
  CALL(cuGraphConditionalHandleCreate(nullptr, g, prim, 0, 0));
  CALL(cuGraphConditionalHandleCreate(&ch, nullptr, prim, 0, 0));
  CALL(cuGraphConditionalHandleCreate(&ch, g, prim, 0, 8));
  CALL(cuGraphConditionalHandleCreate(&ch, g, prim, 3, 0));
  CALL(cuGraphDebugDotPrint(nullptr, "/dev/null", 0));
  CALL(cuGraphDebugDotPrint(g, nullptr, 0));
  CALL(cuGraphDebugDotPrint(g, "/no/such/folder/x.dot", 0));
  CALL(cuGraphDebugDotPrint(g, "/dev/null", 0));
}

void all() {
  GraphRows rows;
  rows.kernel_and_empty_nodes();
  rows.copy_and_set_nodes();
  rows.other_nodes();
  rows.queries();
  rows.executables();
  rows.parameters();
  rows.user_objects();
  rows.conditions();
}

}  // namespace

void add_graph_arguments(CaseList& list) { list.independent("args_graph", all); }

}  // namespace probe

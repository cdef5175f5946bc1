// SPDX-License-Identifier: Apache-2.0
// One good call of each function: graphs, their nodes and executables, user objects.
#include "cases/more_calls.h"
#include "cases/nodes.h"

namespace probe {
namespace {

CUgraphNodeType type;
CUgraphExecUpdateResultInfo update_info;
CUkernelNodeAttrValue priority;
CUgraphConditionalHandle condition;
CUDA_KERNEL_NODE_PARAMS got_kernel;
CUDA_MEMCPY3D got_copy;
CUDA_MEMSET_NODE_PARAMS got_set;
CUDA_HOST_NODE_PARAMS got_host;
CUDA_GRAPH_INSTANTIATE_PARAMS how;

const GoodCall add_calls[] = {
    GOOD(cuGraphAddEmptyNode(&o.node, r.g2, nullptr, 0)),
    GOOD(cuGraphAddChildGraphNode(&o.node, r.g2, nullptr, 0, t.g)),
    GOOD(cuGraphAddEventRecordNode(&o.node, r.g2, nullptr, 0, t.e)),
    GOOD(cuGraphAddEventWaitNode(&o.node, r.g2, nullptr, 0, t.e)),
    GoodCall{"cuGraphAddHostNode",
             [] {
               const CUDA_HOST_NODE_PARAMS params{nothing, nullptr};
               return cuGraphAddHostNode(&o.node, r.g2, nullptr, 0, &params);
             }},
    GoodCall{"cuGraphAddKernelNode",
             [] {
               const auto params = kparams(t.f);
               return cuGraphAddKernelNode(&o.node, r.g2, nullptr, 0, &params);
             }},
    GoodCall{"cuGraphAddMemsetNode",
             [] {
               const auto params = setparams(t.p);
               return cuGraphAddMemsetNode(&o.node, r.g2, nullptr, 0, &params, prim);
             }},
    GoodCall{"cuGraphAddMemcpyNode",
             [] {
               const auto params = dtod(t.q, t.p);
               return cuGraphAddMemcpyNode(&o.node, r.g2, nullptr, 0, &params, prim);
             }},
    GoodCall{"cuGraphAddMemAllocNode",
             [] {
               auto params = alloc_params();
               return cuGraphAddMemAllocNode(&o.node, r.g2, nullptr, 0, &params);
             }},
    GoodCall{"cuGraphAddNode",
             [] {
               CUgraphNodeParams params{};
               params.type = CU_GRAPH_NODE_TYPE_EMPTY;
               return cuGraphAddNode(&o.node, r.g2, nullptr, nullptr, 0, &params);
             }},
    GOOD(cuGraphAddDependencies(t.g, &t.empty, &t.kern, nullptr, 1)),
    GOOD(cuGraphRemoveDependencies(t.g, &t.empty, &t.kern, nullptr, 1)),
    GOOD(cuGraphConditionalHandleCreate(&condition, r.g2, prim, 0, 0)),
};

const GoodCall other_calls[] = {
    GOOD(cuGraphClone(&o.g, t.g)),
    GOOD(cuGraphDebugDotPrint(t.g, "/dev/null", 0)),
    GOOD(cuGraphGetNodes(t.g, nullptr, &o.z)),
    GOOD(cuGraphGetRootNodes(t.g, nullptr, &o.z)),
    GOOD(cuGraphGetEdges(t.g, nullptr, nullptr, nullptr, &o.z)),
    GOOD(cuGraphNodeGetType(t.kern, &type)),
    GOOD(cuGraphNodeGetDependencies(t.kern, nullptr, nullptr, &o.z)),
    GOOD(cuGraphNodeGetDependentNodes(t.kern, nullptr, nullptr, &o.z)),
    GOOD(cuGraphKernelNodeGetParams(t.kern, &got_kernel)),
    GoodCall{"cuGraphKernelNodeSetParams",
             [] { const auto params = kparams(t.f, 2); return cuGraphKernelNodeSetParams(t.kern, &params); }},
    GOOD(cuGraphKernelNodeGetAttribute(t.kern, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority)),
    GOOD(cuGraphKernelNodeSetAttribute(t.kern, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &priority)),
    GOOD(cuGraphKernelNodeCopyAttributes(t.kern, t.kern)),
    GOOD(cuGraphMemcpyNodeGetParams(t.copy, &got_copy)),
    GoodCall{"cuGraphMemcpyNodeSetParams",
             [] { const auto params = dtod(t.p, t.q); return cuGraphMemcpyNodeSetParams(t.copy, &params); }},
    GOOD(cuGraphMemsetNodeGetParams(t.mset, &got_set)),
    GoodCall{"cuGraphMemsetNodeSetParams",
             [] { const auto params = setparams(t.q); return cuGraphMemsetNodeSetParams(t.mset, &params); }},
    GOOD(cuGraphHostNodeGetParams(t.host, &got_host)),
    GoodCall{"cuGraphHostNodeSetParams",
             [] {
               const CUDA_HOST_NODE_PARAMS params{nothing, nullptr};
               return cuGraphHostNodeSetParams(t.host, &params);
             }},
    GOOD(cuGraphChildGraphNodeGetGraph(t.child, &o.g)),
    GOOD(cuGraphEventRecordNodeGetEvent(t.record, &o.e)),
    GOOD(cuGraphEventRecordNodeSetEvent(t.record, t.e)),
    GOOD(cuGraphEventWaitNodeGetEvent(t.wait, &o.e)),
    GOOD(cuGraphEventWaitNodeSetEvent(t.wait, t.e)),
    GOOD(cuGraphRetainUserObject(t.g, r.uo, 1, 0)),
    GOOD(cuGraphReleaseUserObject(t.g, r.uo, 1)),
    GOOD(cuUserObjectRetain(r.uo, 1)),
    GOOD(cuUserObjectCreate(&o.uo, nullptr, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)),
    GOOD(cuGraphInstantiate(&o.x, t.g, 0)),
    GOOD(cuGraphInstantiateWithParams(&o.x, t.g, &how)),
    GOOD(cuGraphUpload(t.x, t.s)),
    GOOD(cuGraphExecGetFlags(t.x, &o.u64)),
    GOOD(cuGraphExecUpdate(t.x, t.g, &update_info)),
    GOOD(cuGraphNodeGetEnabled(t.x, t.kern, &o.u)),
    GOOD(cuGraphNodeSetEnabled(t.x, t.kern, 1)),
    GoodCall{"cuGraphExecKernelNodeSetParams",
             [] { const auto params = kparams(t.f, 2); return cuGraphExecKernelNodeSetParams(t.x, t.kern, &params); }},
    GoodCall{"cuGraphExecMemcpyNodeSetParams",
             [] {
               const auto params = dtod(t.p, t.q);
               return cuGraphExecMemcpyNodeSetParams(t.x, t.copy, &params, prim);
             }},
    GoodCall{"cuGraphExecMemsetNodeSetParams",
             [] {
               const auto params = setparams(t.q);
               return cuGraphExecMemsetNodeSetParams(t.x, t.mset, &params, prim);
             }},
    GoodCall{"cuGraphExecHostNodeSetParams",
             [] {
               const CUDA_HOST_NODE_PARAMS params{nothing, nullptr};
               return cuGraphExecHostNodeSetParams(t.x, t.host, &params);
             }},
    GOOD(cuGraphExecEventRecordNodeSetEvent(t.x, t.record, t.e)),
    GOOD(cuGraphExecEventWaitNodeSetEvent(t.x, t.wait, t.e)),
    GOOD(cuGraphExecChildGraphNodeSetParams(t.x, t.child, r.g)),
};

}  // namespace

std::span<const GoodCall> good_graph_calls() {
  static const auto all = [] {
    std::vector<GoodCall> both{std::begin(add_calls), std::end(add_calls)};
    both.insert(both.end(), std::begin(other_calls), std::end(other_calls));
    return both;
  }();
  return all;
}

}  // namespace probe

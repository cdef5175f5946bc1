// SPDX-License-Identifier: Apache-2.0
// Entry points: executable graphs.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "event/event.h"
#include "graph/capture.h"
#include "graph/graph.h"
#include "graph/memory_nodes.h"
#include "graph/params.h"
#include "graph/update.h"
#include "module/launch.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

std::shared_ptr<GraphExec> exec_of(Call& call, CUgraphExec handle) {
  return call.use<GraphExec>(handle, CUDA_ERROR_INVALID_VALUE);
}

CUgraphExec keep(Call& call, std::shared_ptr<GraphExec> exec) {
  return static_cast<CUgraphExec>(call.driver.handles->insert(Kind::graph_exec, std::move(exec)));
}

template <class Body>
CUresult change(const char* symbol, CUgraphExec exec_handle, CUgraphNode node_handle, Body&& body) {
  return api(symbol, kPlain, [&](Call& call) {
    const auto exec = exec_of(call, exec_handle);
    const auto node = call.use<Node>(node_handle, CUDA_ERROR_INVALID_VALUE);
    body(call, *exec, *node);
  });
}

// Only these can be switched off (recorded: graph_enable).
ExecNode& switchable(Call& call, CUgraphExec exec_handle, CUgraphNode node_handle) {
  const auto exec = exec_of(call, exec_handle);
  ExecNode* node = exec->find(*call.use<Node>(node_handle, CUDA_ERROR_INVALID_VALUE));
  require(node != nullptr);
  require(std::holds_alternative<KernelWork>(node->work) || std::holds_alternative<SetWork>(node->work) ||
          std::holds_alternative<CopyWork>(node->work));
  return *node;
}

// Memory that the graph allocates and does not free stays allocated after a launch.
void settle_memory(Call& call, GraphExec& exec) {
  for (const ExecNode& node : exec.nodes) {
    const auto* alloc = std::get_if<AllocWork>(&node.work);
    if (alloc == nullptr || !allocated(call.driver, *alloc)) continue;
    require((exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0);
    free_now(call.driver, {alloc->memory->address, alloc->memory});
  }
}

}  // namespace

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  return api(__func__, kFaults, [&](Call& call) -> CUresult {
    const auto& context = call.current();
    require(out != nullptr);
    const auto graph = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    refuse_unsafe(call);
    require((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0);  // recorded: only the other function takes it
    Instantiation made = instantiate(call.driver, graph, flags, context);
    if (made.exec != nullptr) *out = keep(call, std::move(made.exec));
    return made.answer;
  });
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return api(__func__, kFaults, [&](Call& call) -> CUresult {
    const auto& context = call.current();
    require(out != nullptr && params != nullptr);
    const auto graph = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    refuse_unsafe(call);
    Instantiation made = instantiate(call.driver, graph, params->flags, context);
    params->result_out = made.result;
    params->hErrNode_out = made.error_node == nullptr ? nullptr : made.error_node->handle;
    if (made.exec != nullptr) *out = keep(call, std::move(made.exec));
    return made.answer;
  });
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr);
    *flags = exec_of(call, handle)->flags;
  });
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, stream_handle);
    (void)exec_of(call, handle);
    refuse_on_capturing(call, *stream);
  });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, stream_handle);
    const auto exec = exec_of(call, handle);
    refuse_on_capturing(call, *stream);
    refuse_implicit(call, *stream);
    settle_memory(call, *exec);
    exec->launched = true;
    for (const ExecNode& node : exec->nodes)
      if (node.enabled)
        submit_work(call, stream, node.work, exec);
  });
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec handle) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    call.destroy<GraphExec>(handle, CUDA_ERROR_INVALID_VALUE);  // what was launched still runs and keeps it
  });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo* info) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto exec = exec_of(call, handle);
    const auto graph = call.use<Graph>(graph_handle, CUDA_ERROR_INVALID_VALUE);
    const Update done = update(*exec, *graph);
    if (info != nullptr) {
      *info = CUgraphExecUpdateResultInfo{};
      info->result = done.result;
      info->errorNode = done.error_node == nullptr ? nullptr : done.error_node->handle;
    }
    require(done.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  });
}

CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
  return api(__func__, kPlain, [&](Call& call) { switchable(call, exec, node).enabled = enabled != 0; });
}

CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int* enabled) {
  return api(__func__, kPlain, [&](Call& call) {
    require(enabled != nullptr);
    *enabled = switchable(call, exec, node).enabled ? 1 : 0;
  });
}

CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    auto& work = work_of<KernelWork>(of, source);
    auto attributes = work.attributes;
    work = kernel_work(call, params);
    work.attributes = std::move(attributes);
  });
}

CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params,
                                                CUcontext context) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    auto& work = work_of<CopyWork>(of, source);
    CopyWork wanted = copy_work(call, params, context);
    require(same_shape(work, wanted));
    work = std::move(wanted);
  });
}

CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params,
                                                CUcontext context) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    auto& work = work_of<SetWork>(of, source);
    SetWork wanted = set_work(call, params, context);
    require(same_shape(work, wanted));
    work = wanted;
  });
}

CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return change(__func__, exec, node,
                [&](Call&, GraphExec& of, const Node& source) { work_of<HostWork>(of, source) = host_work(params); });
}

CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    auto& work = work_of<ChildWork>(of, source);
    const auto graph = call.use<Graph>(child, CUDA_ERROR_INVALID_VALUE);
    require(replaceable(work, ChildWork{graph}) == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    work.graph = clone(call.driver, *graph);
    bury(call.driver, *work.graph);
  });
}

CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    work_of<RecordWork>(of, source).event = event_of_node(call, event);
  });
}

CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return change(__func__, exec, node, [&](Call& call, GraphExec& of, const Node& source) {
    work_of<WaitWork>(of, source).event = event_of_node(call, event);
  });
}

// SPDX-License-Identifier: Apache-2.0
// Entry points: adding nodes, and reading and changing their parameters.
#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "event/event.h"
#include "graph/conditional.h"
#include "graph/graph.h"
#include "graph/memory_nodes.h"
#include "graph/params.h"
#include "graph/update.h"
#include "module/function.h"
#include "module/launch.h"
#include "stream/memory_operations.h"

using namespace cufault::sim;

namespace {

// Adds a node whose work is made once graph and dependencies are known to be good.
template <class Make>
CUresult add(const char* symbol, CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count, Make&& make) {
  return api(symbol, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto graph = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    const auto before = nodes_of(call, *graph, dependencies, count);
    *out = add_node(call.driver, *graph, before, make(call, *graph)).handle;
  });
}

template <class Body>
CUresult with_node(const char* symbol, CUgraphNode handle, Body&& body) {
  return api(symbol, kPlain, [&](Call& call) { body(call, *call.use<Node>(handle, CUDA_ERROR_INVALID_VALUE)); });
}

// The parameters as the caller gave them; the arguments' values are the node's to keep.
void fill_kernel_params(KernelWork& kernel, CUDA_KERNEL_NODE_PARAMS& params) {
  params = kernel.params;
  kernel.argument_pointers.clear();
  for (const ParameterImage& parameter : kernel.function->kernel->parameters)
    kernel.argument_pointers.push_back(kernel.arguments.data() + parameter.offset);
  params.kernelParams = kernel.argument_pointers.empty() ? nullptr : kernel.argument_pointers.data();
}

ChildWork child_work(Call& call, Graph& parent, CUgraph handle) {
  const auto child = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
  if (child.get() == &parent) {
    call.misuse(CUFAULT_MISUSE_WOULD_CRASH, handle, "a graph becomes a child of itself");
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  require(!child->memory_nodes, CUDA_ERROR_NOT_SUPPORTED);
  auto copy = clone(call.driver, *child);
  copy->embedded = true;
  return {std::move(copy)};
}

ConditionalWork conditional_work(Call& call, Graph& graph, CUDA_CONDITIONAL_NODE_PARAMS& params) {
  require(std::find(graph.conditionals.begin(), graph.conditionals.end(), params.handle) != graph.conditionals.end());
  require(params.type == CU_GRAPH_COND_TYPE_IF ? params.size == 1 || params.size == 2
          : params.type == CU_GRAPH_COND_TYPE_WHILE ? params.size == 1
                                                     : params.type == CU_GRAPH_COND_TYPE_SWITCH && params.size != 0);
  ConditionalWork work;
  work.handle = params.handle;
  work.type = params.type;
  work.size = params.size;
  work.context = params.ctx;
  for (unsigned i = 0; i < params.size; ++i) {
    work.bodies.push_back(make_graph(call.driver));
    work.bodies.back()->embedded = work.bodies.back()->conditional_body = true;
    work.handles.push_back(work.bodies.back()->handle);
  }
  return work;
}

Work general_work(Call& call, Graph& graph, CUgraphNodeParams& params) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      CUDA_KERNEL_NODE_PARAMS kernel{};
      static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == sizeof params.kernel);
      std::memcpy(static_cast<void*>(&kernel), &params.kernel, sizeof kernel);
      return kernel_work(call, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work(call, &params.memcpy.copyParams, params.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS set{params.memset.dst,   params.memset.pitch, params.memset.value, params.memset.elementSize,
                                        params.memset.width, params.memset.height};
      return set_work(call, &set, params.memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host{params.host.fn, params.host.userData};
      return host_work(&host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH: return child_work(call, graph, params.graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return RecordWork{event_of_node(call, params.eventRecord.event)};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return WaitWork{event_of_node(call, params.eventWait.event)};
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
      alloc.poolProps = params.alloc.poolProps;
      alloc.accessDescs = params.alloc.accessDescs;
      alloc.accessDescCount = params.alloc.accessDescCount;
      alloc.bytesize = params.alloc.bytesize;
      AllocWork work = make_allocation(call, alloc);
      params.alloc.dptr = work.memory->address;
      return work;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return make_free(call, graph, params.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      ConditionalWork work = conditional_work(call, graph, params.conditional);
      return work;
    }
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const auto& batch = params.memOp;
      BatchWork work{batch.ctx, batch.flags, {}};
      require(batch.paramArray != nullptr || batch.count == 0);
      work.operations.assign(batch.paramArray, batch.paramArray + batch.count);
      check_memory_operations(call, work.operations);
      return work;
    }
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: call.unmodelled("nodes of external semaphores");
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return add(__func__, out, graph, dependencies, count, [](Call&, Graph&) { return EmptyWork{}; });
}

CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS* params) {
  return add(__func__, out, graph, dependencies, count, [&](Call& call, Graph&) { return kernel_work(call, params); });
}

CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMCPY3D* params, CUcontext context) {
  return add(__func__, out, graph, dependencies, count,
             [&](Call& call, Graph&) { return copy_work(call, params, context); });
}

CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  return add(__func__, out, graph, dependencies, count, [&](Call& call, Graph&) { return set_work(call, params, context); });
}

CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS* params) {
  return add(__func__, out, graph, dependencies, count, [&](Call&, Graph&) { return host_work(params); });
}

CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                          CUgraph child) {
  return add(__func__, out, graph, dependencies, count,
             [&](Call& call, Graph& parent) { return child_work(call, parent, child); });
}

CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                           CUevent event) {
  return add(__func__, out, graph, dependencies, count,
             [&](Call& call, Graph&) { return RecordWork{event_of_node(call, event)}; });
}

CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                         CUevent event) {
  return add(__func__, out, graph, dependencies, count,
             [&](Call& call, Graph&) { return WaitWork{event_of_node(call, event)}; });
}

CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                        CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return add(__func__, out, graph, dependencies, count, [&](Call& call, Graph&) {
    require(params != nullptr);
    AllocWork work = make_allocation(call, *params);
    params->dptr = work.memory->address;
    return work;
  });
}

CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                       CUdeviceptr address) {
  return add(__func__, out, graph, dependencies, count,
             [&](Call& call, Graph& owner) { return make_free(call, owner, address); });
}

CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                          const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return add(__func__, out, graph, dependencies, count, [&](Call& call, Graph&) {
    require(params != nullptr && (params->paramArray != nullptr || params->count == 0));
    BatchWork work{params->ctx, params->flags, {}};
    work.operations.assign(params->paramArray, params->paramArray + params->count);
    check_memory_operations(call, work.operations);
    return work;
  });
}

CUresult CUDAAPI cuGraphAddNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                                size_t count, CUgraphNodeParams* params) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)data;
    require(out != nullptr && params != nullptr);
    const auto graph = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    require(params->reserved0[0] == 0 && params->reserved0[1] == 0 && params->reserved0[2] == 0 && params->reserved2 == 0);
    const auto before = nodes_of(call, *graph, dependencies, count);
    Node& node = add_node(call.driver, *graph, before, general_work(call, *graph, *params));
    if (auto* conditional = std::get_if<ConditionalWork>(&node.work)) params->conditional.phGraph_out = conditional->handles.data();
    *out = node.handle;
  });
}

CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(params != nullptr);
    fill_kernel_params(work_of<KernelWork>(node), *params);
  });
}

CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call& call, Node& node) {
    auto& kernel = work_of<KernelWork>(node);
    auto attributes = kernel.attributes;
    kernel = kernel_work(call, params);
    kernel.attributes = std::move(attributes);
  });
}

CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(params != nullptr);
    *params = work_of<CopyWork>(node).copy;
  });
}

CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* params) {
  return with_node(__func__, handle, [&](Call& call, Node& node) {
    auto& work = work_of<CopyWork>(node);
    work = copy_work(call, params, work.context);
  });
}

CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(params != nullptr);
    *params = work_of<SetWork>(node).set;
  });
}

CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call& call, Node& node) {
    auto& work = work_of<SetWork>(node);
    work = set_work(call, params, work.context);
  });
}

CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(params != nullptr);
    *params = work_of<HostWork>(node).params;
  });
}

CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) { work_of<HostWork>(node) = host_work(params); });
}

CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(out != nullptr);
    *out = work_of<ChildWork>(node).graph->handle;
  });
}

CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* out) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(out != nullptr);
    *out = static_cast<CUevent>(work_of<RecordWork>(node).event->self);
  });
}

CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
  return with_node(__func__, handle,
                   [&](Call& call, Node& node) { work_of<RecordWork>(node).event = event_of_node(call, event); });
}

CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* out) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(out != nullptr);
    *out = static_cast<CUevent>(work_of<WaitWork>(node).event->self);
  });
}

CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
  return with_node(__func__, handle,
                   [&](Call& call, Node& node) { work_of<WaitWork>(node).event = event_of_node(call, event); });
}

CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(params != nullptr);
    *params = work_of<AllocWork>(node).params;
  });
}

CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* out) {
  return with_node(__func__, handle, [&](Call&, Node& node) {
    require(out != nullptr);
    *out = work_of<FreeWork>(node).address;
  });
}

CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  return with_node(__func__, handle, [&](Call& call, Node& node) {
    require(params != nullptr && params->type == type_of(node.work));
    node.work = general_work(call, *node.graph, *params);
  });
}

CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec exec_handle, CUgraphNode handle, CUgraphNodeParams* params) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto exec = call.use<GraphExec>(exec_handle, CUDA_ERROR_INVALID_VALUE);
    const auto node = call.use<Node>(handle, CUDA_ERROR_INVALID_VALUE);
    ExecNode* own = exec->find(*node);
    require(params != nullptr && own != nullptr && params->type == type_of(own->work));
    require(!std::holds_alternative<AllocWork>(own->work) && !std::holds_alternative<FreeWork>(own->work));
    if (std::holds_alternative<ConditionalWork>(own->work)) refuse(CUDA_ERROR_INVALID_VALUE);
    Work wanted = general_work(call, *node->graph, *params);
    const CUgraphExecUpdateResult fits = replaceable(own->work, wanted);
    if (const auto* child = std::get_if<ChildWork>(&wanted)) bury(call.driver, *child->graph);
    require(fits == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    if (auto* kernel = std::get_if<KernelWork>(&wanted)) kernel->attributes = std::get<KernelWork>(own->work).attributes;
    own->work = std::move(wanted);
  });
}

CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  return with_node(__func__, handle, [&](Call& call, Node& node) {
    require(params != nullptr);
    CUgraphNodeParams out{};
    out.type = type_of(node.work);
    if (const auto* set = std::get_if<SetWork>(&node.work)) {
      out.memset.dst = set->set.dst;
      out.memset.pitch = set->set.pitch;
      out.memset.value = set->set.value;
      out.memset.elementSize = set->set.elementSize;
      out.memset.width = set->set.width;
      out.memset.height = set->set.height;
      out.memset.ctx = set->context;
    } else if (const auto* copy = std::get_if<CopyWork>(&node.work)) {
      out.memcpy.copyParams = copy->copy;
      out.memcpy.copyCtx = copy->context;
    } else if (const auto* host = std::get_if<HostWork>(&node.work)) {
      out.host.fn = host->params.fn;
      out.host.userData = host->params.userData;
    } else if (const auto* record_work = std::get_if<RecordWork>(&node.work)) {
      out.eventRecord.event = static_cast<CUevent>(record_work->event->self);
    } else if (const auto* wait = std::get_if<WaitWork>(&node.work)) {
      out.eventWait.event = static_cast<CUevent>(wait->event->self);
    } else if (const auto* child = std::get_if<ChildWork>(&node.work)) {
      out.graph.graph = child->graph->handle;
    } else if (const auto* free = std::get_if<FreeWork>(&node.work)) {
      out.free.dptr = free->address;
    } else if (auto* kernel = std::get_if<KernelWork>(&node.work)) {
      CUDA_KERNEL_NODE_PARAMS own{};
      fill_kernel_params(*kernel, own);
      std::memcpy(static_cast<void*>(&out.kernel), &own, sizeof own);
    } else if (!std::holds_alternative<EmptyWork>(node.work)) {
      call.unmodelled("the parameters of this type of node");
    }
    *params = out;
  });
}

CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph handle, CUcontext context,
                                                unsigned int value, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && (flags & ~1u) == 0);
    const auto graph = call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    (void)context;
    *out = make_conditional(call.driver, value, flags);
    graph->conditionals.push_back(*out);
  });
}

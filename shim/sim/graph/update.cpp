// SPDX-License-Identifier: Apache-2.0
// The rules of instantiation and update, as recorded (graph_instantiate, graph_exec_update, graph_conditional_body_*).
#include "graph/update.h"

#include <algorithm>

#include "context/context.h"
#include "core/driver.h"
#include "graph/params.h"
#include "module/function.h"

namespace cufault::sim {

namespace {

// What may run from the device, or in the body of a conditional node.
bool runs_on_device(const Work& work) {
  switch (type_of(work)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    default: return false;
  }
}

// The first node that cannot be instantiated; null if all can.
const Node* unsupported(const Graph& graph, bool on_device) {
  for (const auto& node : graph.nodes) {
    if (on_device && !runs_on_device(node->work)) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      if (const Node* bad = unsupported(*child->graph, on_device)) return bad;
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work))
      for (const auto& body : conditional->bodies)
        if (const Node* bad = unsupported(*body, true)) return bad;
  }
  return nullptr;
}

struct Order {
  std::vector<Node*> nodes;
  std::vector<std::vector<std::size_t>> dependencies;
};

bool order_of(const Graph& graph, Order& order, Node*& in_cycle) {
  if (!graph.sort(order.nodes, in_cycle)) return false;
  std::map<const Node*, std::size_t> index;
  for (std::size_t i = 0; i < order.nodes.size(); ++i) index[order.nodes[i]] = i;
  order.dependencies.resize(order.nodes.size());
  for (const Edge& edge : graph.edges) order.dependencies[index[edge.to]].push_back(index[edge.from]);
  for (auto& list : order.dependencies) std::sort(list.begin(), list.end());
  return true;
}

unsigned attribute(const KernelWork& kernel, int which) {
  const auto at = kernel.attributes.find(which);
  return at == kernel.attributes.end() ? 0 : static_cast<unsigned>(at->second.cooperative);
}

// The nodes of a child graph against those of another.
bool same_topology(const Graph& before, const Graph& after) {
  Order old_order, new_order;
  Node* in_cycle = nullptr;
  return order_of(before, old_order, in_cycle) && order_of(after, new_order, in_cycle) &&
         old_order.nodes.size() == new_order.nodes.size() && old_order.dependencies == new_order.dependencies;
}

}  // namespace

Instantiation instantiate(Driver& driver, const std::shared_ptr<Graph>& graph, unsigned long long flags,
                          const std::shared_ptr<Context>& context) {
  constexpr unsigned long long kFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  const bool device_launch = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  if ((flags & ~kFlags) != 0 || (device_launch && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0))
    return {nullptr, CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  if (graph->memory_nodes && graph->memory_execs != 0)
    return {nullptr, CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
  Order order;
  Node* in_cycle = nullptr;
  if (!order_of(*graph, order, in_cycle))
    return {nullptr, CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, in_cycle};
  if (const Node* bad = unsupported(*graph, device_launch))
    return {nullptr, CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, bad};
  auto exec = std::make_shared<GraphExec>();
  exec->flags = flags & ~static_cast<unsigned long long>(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  exec->context = context;
  exec->source = graph;
  const auto held = clone(driver, *graph);  // so that later changes of embedded graphs do not reach the copy
  std::map<std::uint64_t, Work*> copies;
  for (const auto& node : held->nodes) copies[node->cloned_from] = &node->work;
  for (const Node* node : order.nodes) exec->nodes.push_back({node->id, true, *copies[node->id]});
  exec->dependencies = std::move(order.dependencies);
  exec->user_objects = std::move(held->user_objects);
  held->user_objects.clear();
  bury(driver, *held);
  if (graph->memory_nodes) {
    ++graph->memory_execs;
    exec->counts_as_memory_exec = true;
  }
  return {std::move(exec), CUDA_SUCCESS, CUDA_GRAPH_INSTANTIATE_SUCCESS, nullptr};
}

CUgraphExecUpdateResult replaceable(const Work& before, const Work& after) {
  if (before.index() != after.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (const auto* kernel = std::get_if<KernelWork>(&before)) {
    const auto& other = std::get<KernelWork>(after);
    if (kernel->function->module->context != other.function->module->context)
      return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    if (attribute(*kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE) != attribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
      return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  } else if (const auto* set = std::get_if<SetWork>(&before)) {
    if (!same_shape(*set, std::get<SetWork>(after))) return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  } else if (const auto* copy = std::get_if<CopyWork>(&before)) {
    if (!same_shape(*copy, std::get<CopyWork>(after))) return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  } else if (const auto* conditional = std::get_if<ConditionalWork>(&before)) {
    const auto& other = std::get<ConditionalWork>(after);
    if (conditional->type != other.type || conditional->size != other.size) return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  } else if (const auto* child = std::get_if<ChildWork>(&before)) {
    if (!same_topology(*child->graph, *std::get<ChildWork>(after).graph)) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

Update update(GraphExec& exec, const Graph& graph) {
  Order order;
  Node* in_cycle = nullptr;
  if (!order_of(graph, order, in_cycle) || order.nodes.size() != exec.nodes.size())
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const Node& node = *order.nodes[i];
    if (order.dependencies[i] != exec.dependencies[i]) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &node};
    const CUgraphExecUpdateResult result = replaceable(exec.nodes[i].work, node.work);
    // Recorded: a child graph with other nodes names none.
    const bool child = result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return {result, child ? nullptr : &node};
  }
  for (std::size_t i = 0; i < order.nodes.size(); ++i) exec.nodes[i].work = order.nodes[i]->work;
  return {};
}

}  // namespace cufault::sim

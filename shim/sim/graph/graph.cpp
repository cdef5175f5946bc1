// SPDX-License-Identifier: Apache-2.0
// The structure of graphs: nodes, edges, copies, order.
#include "graph/graph.h"

#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "core/driver.h"

namespace cufault::sim {

CUgraphNodeType type_of(const Work& work) noexcept {
  constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,        CU_GRAPH_NODE_TYPE_KERNEL,     CU_GRAPH_NODE_TYPE_MEMCPY,   CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_HOST,         CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC,    CU_GRAPH_NODE_TYPE_MEM_FREE,   CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
      CU_GRAPH_NODE_TYPE_CONDITIONAL};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

Graph::~Graph() {
  for (const auto& [object, count] : user_objects) release(Driver::get(), *object, count);
}

std::vector<Node*> Graph::dependencies(const Node& node) const {
  std::vector<Node*> found;
  for (const Edge& edge : edges)
    if (edge.to == &node) found.push_back(edge.from);
  return found;
}

std::vector<Node*> Graph::dependents(const Node& node) const {
  std::vector<Node*> found;
  for (const Edge& edge : edges)
    if (edge.from == &node) found.push_back(edge.to);
  return found;
}

bool Graph::has_edge(const Node* from, const Node* to) const noexcept {
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.from == from && edge.to == to; });
}

bool Graph::sort(std::vector<Node*>& sorted, Node*& in_cycle) const {
  sorted.clear();
  std::map<const Node*, std::size_t> missing;
  std::map<const Node*, std::vector<Node*>> after;
  for (const Edge& edge : edges) {
    ++missing[edge.to];
    after[edge.from].push_back(edge.to);
  }
  std::map<std::uint64_t, Node*> ready;  // by id: in order of creation
  for (const auto& node : nodes)
    if (missing.find(node.get()) == missing.end()) ready[node->id] = node.get();
  while (!ready.empty()) {
    Node* next = ready.begin()->second;
    ready.erase(ready.begin());
    sorted.push_back(next);
    for (Node* dependent : after[next])
      if (--missing[dependent] == 0) ready[dependent->id] = dependent;
  }
  if (sorted.size() == nodes.size()) return true;
  for (const auto& node : nodes)
    if (std::find(sorted.begin(), sorted.end(), node.get()) == sorted.end()) {
      in_cycle = node.get();
      break;
    }
  return false;
}

std::shared_ptr<Graph> make_graph(Driver& driver) {
  auto graph = std::make_shared<Graph>();
  graph->handle = static_cast<CUgraph>(driver.handles->insert(Kind::graph, graph));
  return graph;
}

Node& add_node(Driver& driver, Graph& graph, const std::vector<Node*>& dependencies, Work work) {
  auto node = std::make_shared<Node>();
  node->graph = &graph;
  node->id = node->origin = driver.next_id();
  node->work = std::move(work);
  node->handle = static_cast<CUgraphNode>(driver.handles->insert(Kind::graph_node, node));
  if (std::holds_alternative<AllocWork>(node->work) || std::holds_alternative<FreeWork>(node->work)) graph.memory_nodes = true;
  for (Node* dependency : dependencies) graph.edges.push_back({dependency, node.get(), {}});
  graph.nodes.push_back(node);
  return *node;
}

std::vector<Node*> nodes_of(const Call& call, const Graph& graph, const CUgraphNode* handles, std::size_t count) {
  require(handles != nullptr || count == 0);
  std::vector<Node*> found;
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = call.use<Node>(handles[i], CUDA_ERROR_INVALID_VALUE);
    require(node->graph == &graph && std::find(found.begin(), found.end(), node.get()) == found.end());
    found.push_back(node.get());
  }
  return found;
}

namespace {

Work copy_work(Driver& driver, const Work& work) {
  Work copy = work;
  if (auto* child = std::get_if<ChildWork>(&copy)) {
    child->graph = clone(driver, *child->graph);
    child->graph->embedded = true;
  } else if (auto* conditional = std::get_if<ConditionalWork>(&copy)) {
    for (std::size_t i = 0; i < conditional->bodies.size(); ++i) {
      conditional->bodies[i] = clone(driver, *conditional->bodies[i]);
      conditional->bodies[i]->embedded = conditional->bodies[i]->conditional_body = true;
      conditional->handles[i] = conditional->bodies[i]->handle;
    }
  }
  return copy;
}

}  // namespace

std::shared_ptr<Graph> clone(Driver& driver, const Graph& graph) {
  auto copy = make_graph(driver);
  std::map<const Node*, Node*> counterpart;
  for (const auto& node : graph.nodes) {
    Node& made = add_node(driver, *copy, {}, copy_work(driver, node->work));
    made.origin = node->origin;
    made.cloned_from = node->id;
    counterpart[node.get()] = &made;
  }
  for (const Edge& edge : graph.edges) copy->edges.push_back({counterpart[edge.from], counterpart[edge.to], edge.data});
  // Recorded (user_object_*): a copy holds each object once.
  for (const auto& [object, count] : graph.user_objects) {
    if (count == 0) continue;
    ++object->references;
    copy->user_objects[object] = 1;
  }
  return copy;
}

void bury(Driver& driver, Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) bury(driver, *child->graph);
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work))
      for (const auto& body : conditional->bodies) bury(driver, *body);
    driver.handles->remove(node->handle);
  }
  driver.handles->remove(graph.handle);
}

ExecNode* GraphExec::find(const Node& node) noexcept {
  const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const ExecNode& own) { return own.origin == node.id; });
  return at == nodes.end() ? nullptr : &*at;
}

GraphExec::~GraphExec() {
  for (const auto& [object, count] : user_objects) release(Driver::get(), *object, count, launched);
  if (const auto graph = source.lock(); graph != nullptr && counts_as_memory_exec) --graph->memory_execs;
}

void release(Driver& driver, UserObject& object, unsigned count, bool elsewhere) {
  if (object.references < count) {
    // More than is held: the recorded driver's count wraps around, and the destructor never runs.
    object.references = 0;
    return;
  }
  object.references -= count;
  if (object.references != 0) return;
  std::function<void()> destructor = [destroy = object.destroy, pointer = object.pointer] { destroy(pointer); };
  if (elsewhere) {
    driver.engine.call_later(std::move(destructor));
  } else {
    this_thread().owed.push_back(std::move(destructor));
  }
  driver.handles->remove(object.self);
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Graphs, their nodes, and what is made from them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/api.h"
#include "core/handles.h"
#include "graph/work.h"

namespace cufault::sim {

class Call;
class Driver;
struct Capture;
struct Context;
struct Graph;
struct Stream;
struct UserObject;

struct Node : Object {
  static constexpr Kind kKind = Kind::graph_node;

  Graph* graph = nullptr;
  CUgraphNode handle = nullptr;
  std::uint64_t id = 0;      // of this node
  std::uint64_t origin = 0;  // of the node that this one was cloned from, through any number of clones; else its own id
  std::uint64_t cloned_from = 0;  // of the node in the graph that was cloned
  Work work;
};

struct Edge {
  Node* from = nullptr;
  Node* to = nullptr;
  CUgraphEdgeData data{};
};

struct Graph : Object {
  static constexpr Kind kKind = Kind::graph;

  Graph() = default;
  ~Graph() override;

  CUgraph handle = nullptr;
  // Inside a node of another graph: it cannot be destroyed by its handle.
  bool embedded = false;
  bool conditional_body = false;
  std::vector<std::shared_ptr<Node>> nodes;  // in order of creation
  std::vector<Edge> edges;                   // in order of creation
  std::map<std::shared_ptr<UserObject>, unsigned> user_objects;
  std::vector<CUgraphConditionalHandle> conditionals;
  Capture* capture = nullptr;  // the capture that is filling it
  bool memory_nodes = false;
  unsigned memory_execs = 0;  // live executable graphs made from it while it holds memory nodes

  [[nodiscard]] std::vector<Node*> dependencies(const Node& node) const;
  [[nodiscard]] std::vector<Node*> dependents(const Node& node) const;
  [[nodiscard]] bool has_edge(const Node* from, const Node* to) const noexcept;
  // Nodes in an order that respects every edge, in order of creation otherwise; empty `sorted` and false if there is a cycle.
  [[nodiscard]] bool sort(std::vector<Node*>& sorted, Node*& in_cycle) const;
};

[[nodiscard]] std::shared_ptr<Graph> make_graph(Driver& driver);
// Appends a node; the dependencies were checked.
Node& add_node(Driver& driver, Graph& graph, const std::vector<Node*>& dependencies, Work work);
// Refuses with INVALID_VALUE unless all are nodes of the graph, each once.
[[nodiscard]] std::vector<Node*> nodes_of(const Call& call, const Graph& graph, const CUgraphNode* handles, std::size_t count);
// A copy: every node with a new handle, embedded graphs copied too, user objects held once more.
[[nodiscard]] std::shared_ptr<Graph> clone(Driver& driver, const Graph& graph);
// Takes every handle of the graph and what is inside out of the table.
void bury(Driver& driver, Graph& graph);

struct ExecNode {
  std::uint64_t origin = 0;
  bool enabled = true;
  Work work;
};

struct GraphExec : Object {
  static constexpr Kind kKind = Kind::graph_exec;

  ~GraphExec() override;

  unsigned long long flags = 0;
  std::shared_ptr<Context> context;
  std::weak_ptr<Graph> source;
  bool counts_as_memory_exec = false;
  bool launched = false;
  std::vector<ExecNode> nodes;  // in the order in which they run
  std::vector<std::vector<std::size_t>> dependencies;
  std::map<std::shared_ptr<UserObject>, unsigned> user_objects;

  [[nodiscard]] ExecNode* find(const Node& node) noexcept;
};

struct UserObject : Object {
  static constexpr Kind kKind = Kind::user_object;

  void* pointer = nullptr;
  CUhostFn destroy = nullptr;
  unsigned references = 0;
  void* self = nullptr;
};

// Gives references back; the last one runs the destructor. Measured on an H200, driver 580.159.04, 2026-12-01: on the
// calling thread, before the releasing call returns, but on a driver thread (`elsewhere`) where an exec held it that had
// been launched.
void release(Driver& driver, UserObject& object, unsigned count, bool elsewhere = false);

// Submits one piece of work to a stream that is not being captured. `held` is kept until it has run.
void submit_work(Call& call, const std::shared_ptr<Stream>& stream, const Work& work, std::shared_ptr<const void> held = {});
// Submits work to a stream, or adds it as a node if the stream is being captured.
void enqueue(Call& call, const std::shared_ptr<Stream>& stream, Work work);

}  // namespace cufault::sim

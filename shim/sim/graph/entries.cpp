// SPDX-License-Identifier: Apache-2.0
// Entry points: the structure of graphs.
#include <algorithm>
#include <cstdio>

#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "graph/graph.h"

using namespace cufault::sim;

namespace {

std::shared_ptr<Graph> graph_of(Call& call, CUgraph handle) { return call.use<Graph>(handle, CUDA_ERROR_INVALID_VALUE); }
std::shared_ptr<Node> node_of(Call& call, CUgraphNode handle) { return call.use<Node>(handle, CUDA_ERROR_INVALID_VALUE); }

bool plain(const CUgraphEdgeData& data) {
  return data.from_port == 0 && data.to_port == 0 && data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT &&
         std::all_of(std::begin(data.reserved), std::end(data.reserved), [](unsigned char byte) { return byte == 0; });
}

// Recorded (graph_getters): a list that is too short is filled, what is beyond the end of a longer one becomes null, and
// no room at all is an error.
template <class Item, class Put>
void fill_list(const std::vector<Item>& items, bool wanted, size_t* count, const Put& put) {
  if (!wanted) {
    *count = items.size();
    return;
  }
  require(*count != 0 || items.empty());
  for (std::size_t i = 0; i < *count; ++i) put(i, i < items.size() ? &items[i] : nullptr);
  *count = std::min(*count, items.size());
}

void list_nodes(const std::vector<Node*>& nodes, CUgraphNode* out, size_t* count) {
  fill_list(nodes, out != nullptr, count,
            [&](std::size_t i, Node* const* node) { out[i] = node == nullptr ? nullptr : (*node)->handle; });
}

void list_edges(const std::vector<Edge>& edges, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  fill_list(edges, from != nullptr || to != nullptr, count, [&](std::size_t i, const Edge* edge) {
    if (from != nullptr) from[i] = edge == nullptr ? nullptr : edge->from->handle;
    if (to != nullptr) to[i] = edge == nullptr ? nullptr : edge->to->handle;
    if (data != nullptr) data[i] = edge == nullptr ? CUgraphEdgeData{} : edge->data;
  });
}

}  // namespace

CUresult CUDAAPI cuGraphCreate(CUgraph* out, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && flags == 0);
    *out = make_graph(call.driver)->handle;
  });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    const auto graph = call.doomed<Graph>(handle, CUDA_ERROR_INVALID_VALUE);
    require(!graph->embedded);
    require(graph->capture == nullptr, CUDA_ERROR_ILLEGAL_STATE);
    bury(call.driver, *graph);
  });
}

CUresult CUDAAPI cuGraphClone(CUgraph* out, CUgraph handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto graph = graph_of(call, handle);
    require(!graph->memory_nodes, CUDA_ERROR_NOT_SUPPORTED);
    *out = clone(call.driver, *graph)->handle;
  });
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode handle, CUgraph clone_handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto node = node_of(call, handle);
    const auto graph = graph_of(call, clone_handle);
    const auto at = std::find_if(graph->nodes.begin(), graph->nodes.end(),
                                 [&](const auto& candidate) { return candidate->cloned_from == node->id; });
    require(at != graph->nodes.end());
    *out = (*at)->handle;
  });
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(type != nullptr);
    *type = type_of(node_of(call, handle)->work);
  });
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    std::vector<Node*> all;
    for (const auto& node : graph_of(call, handle)->nodes) all.push_back(node.get());
    list_nodes(all, nodes, count);
  });
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    const auto graph = graph_of(call, handle);
    std::vector<Node*> roots;
    for (const auto& node : graph->nodes)
      if (graph->dependencies(*node).empty()) roots.push_back(node.get());
    list_nodes(roots, nodes, count);
  });
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    list_edges(graph_of(call, handle)->edges, from, to, data, count);
  });
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    const auto node = node_of(call, handle);
    std::vector<Edge> edges;
    for (const Edge& edge : node->graph->edges)
      if (edge.to == node.get()) edges.push_back(edge);
    list_edges(edges, nodes, nullptr, data, count);
  });
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    const auto node = node_of(call, handle);
    std::vector<Edge> edges;
    for (const Edge& edge : node->graph->edges)
      if (edge.from == node.get()) edges.push_back(edge);
    list_edges(edges, nullptr, nodes, data, count);
  });
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                        const CUgraphEdgeData* data, size_t count) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto graph = graph_of(call, handle);
    require((from != nullptr && to != nullptr) || count == 0);
    std::vector<Edge> added;
    for (std::size_t i = 0; i < count; ++i) {
      const auto source = node_of(call, from[i]), target = node_of(call, to[i]);
      require(source->graph == graph.get() && target->graph == graph.get() && source != target);
      require(!graph->has_edge(source.get(), target.get()));
      require(data == nullptr || plain(data[i]));
      added.push_back({source.get(), target.get(), {}});
    }
    graph->edges.insert(graph->edges.end(), added.begin(), added.end());
  });
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                           const CUgraphEdgeData* data, size_t count) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)data;
    const auto graph = graph_of(call, handle);
    require((from != nullptr && to != nullptr) || count == 0);
    std::vector<std::pair<const Node*, const Node*>> gone;
    for (std::size_t i = 0; i < count; ++i) {
      const auto source = node_of(call, from[i]), target = node_of(call, to[i]);
      require(graph->has_edge(source.get(), target.get()));
      require(!std::holds_alternative<AllocWork>(source->work) || !std::holds_alternative<FreeWork>(target->work),
              CUDA_ERROR_NOT_SUPPORTED);
      gone.emplace_back(source.get(), target.get());
    }
    std::erase_if(graph->edges, [&](const Edge& edge) {
      return std::find(gone.begin(), gone.end(), std::pair<const Node*, const Node*>(edge.from, edge.to)) != gone.end();
    });
  });
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode handle) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    const auto node = call.doomed<Node>(handle, CUDA_ERROR_INVALID_VALUE);
    Graph& graph = *node->graph;
    require(graph.capture == nullptr, CUDA_ERROR_ILLEGAL_STATE);
    require(!std::holds_alternative<AllocWork>(node->work) && !std::holds_alternative<FreeWork>(node->work),
            CUDA_ERROR_NOT_SUPPORTED);
    if (const auto* child = std::get_if<ChildWork>(&node->work)) bury(call.driver, *child->graph);
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work))
      for (const auto& body : conditional->bodies) bury(call.driver, *body);
    std::erase_if(graph.edges, [&](const Edge& edge) { return edge.from == node.get() || edge.to == node.get(); });
    std::erase_if(graph.nodes, [&](const auto& own) { return own == node; });
    call.driver.handles->remove(handle);
  });
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)flags;
    const auto graph = graph_of(call, handle);
    require(path != nullptr);
    std::FILE* file = std::fopen(path, "w");
    require(file != nullptr, CUDA_ERROR_OPERATING_SYSTEM);
    std::fputs("digraph dot {\n", file);
    for (const auto& node : graph->nodes)
      std::fprintf(file, "\"%llu\" [label=\"%d\"];\n", static_cast<unsigned long long>(node->id), type_of(node->work));
    for (const Edge& edge : graph->edges)
      std::fprintf(file, "\"%llu\" -> \"%llu\";\n", static_cast<unsigned long long>(edge.from->id),
                   static_cast<unsigned long long>(edge.to->id));
    std::fputs("}\n", file);
    std::fclose(file);
  });
}

CUresult CUDAAPI cuUserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned int references, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && destroy != nullptr && references != 0 && references <= INT32_MAX);
    require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    auto object = std::make_shared<UserObject>();
    object->pointer = pointer;
    object->destroy = destroy;
    object->references = references;
    object->self = call.driver.handles->insert(Kind::user_object, object);
    *out = static_cast<CUuserObject>(object->self);
  });
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject handle, unsigned int count) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto object = call.use<UserObject>(handle, CUDA_ERROR_INVALID_VALUE);
    require(count != 0 && count <= INT32_MAX);
    object->references += count;
  });
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject handle, unsigned int count) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    const auto object = call.use<UserObject>(handle, CUDA_ERROR_INVALID_VALUE);
    require(count != 0 && count <= INT32_MAX);
    release(call.driver, *object, count);
  });
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto graph = graph_of(call, graph_handle);
    const auto object = call.use<UserObject>(handle, CUDA_ERROR_INVALID_VALUE);
    require(count != 0 && count <= INT32_MAX && (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) == 0);
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->references += count;
    graph->user_objects[object] += count;
  });
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto graph = graph_of(call, graph_handle);
    const auto object = call.use<UserObject>(handle, CUDA_ERROR_INVALID_VALUE);
    require(count != 0 && count <= INT32_MAX);
    // Recorded (user_object_graph_retain): giving back more than the graph holds is accepted.
    const auto held = graph->user_objects.find(object);
    if (held == graph->user_objects.end()) return;
    const unsigned given = std::min(held->second, count);
    if (given == held->second)
      graph->user_objects.erase(held);
    else
      held->second -= given;
    release(call.driver, *object, given);
  });
}

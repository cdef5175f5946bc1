// SPDX-License-Identifier: Apache-2.0
// Making executable graphs, and changing them in place.
#pragma once

#include <memory>

#include "core/api.h"
#include "graph/graph.h"

namespace cufault::sim {

struct Instantiation {
  std::shared_ptr<GraphExec> exec;  // null if it failed
  CUresult answer = CUDA_SUCCESS;
  CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  const Node* error_node = nullptr;
};
[[nodiscard]] Instantiation instantiate(Driver& driver, const std::shared_ptr<Graph>& graph, unsigned long long flags,
                                        const std::shared_ptr<Context>& context);

struct Update {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const Node* error_node = nullptr;
};
// Compares a graph with what the executable graph runs and, if it fits, takes over its parameters.
[[nodiscard]] Update update(GraphExec& exec, const Graph& graph);
// Whether a node's work may take the place of another's: the reason if it may not.
[[nodiscard]] CUgraphExecUpdateResult replaceable(const Work& before, const Work& after);

}  // namespace cufault::sim

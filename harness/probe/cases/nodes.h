// SPDX-License-Identifier: Apache-2.0
// Makers of graphs and nodes, and what a graph looks like as numbers and text.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "cases/fixtures.h"

namespace probe {

using Nodes = std::vector<CUgraphNode>;

[[nodiscard]] CUgraph graph();
[[nodiscard]] CUgraphExec inst(CUgraph g, unsigned long long flags = 0);
template <class Build>
[[nodiscard]] CUgraph graph_with(Build&& build) {
  CUgraph g = graph();
  build(g);
  return g;
}

[[nodiscard]] CUDA_KERNEL_NODE_PARAMS kparams(CUfunction f, unsigned grid = 1);
[[nodiscard]] CUDA_MEMSET_NODE_PARAMS setparams(CUdeviceptr p, std::size_t width = 16, std::size_t height = 1,
                                                unsigned element = 1);
[[nodiscard]] CUDA_MEMCPY3D dtod(CUdeviceptr to, CUdeviceptr from, std::size_t width = 64, std::size_t height = 1);
[[nodiscard]] CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(std::size_t bytes = 4096);

CUgraphNode empty(CUgraph g, const Nodes& after = {});
CUgraphNode kern(CUgraph g, CUfunction f, const Nodes& after = {}, unsigned grid = 1);
CUgraphNode mset(CUgraph g, CUdeviceptr p, const Nodes& after = {});
CUgraphNode copy(CUgraph g, const CUDA_MEMCPY3D& what);
CUgraphNode host(CUgraph g, CUhostFn f = nothing, void* user = nullptr, const Nodes& after = {});
CUgraphNode child(CUgraph g, CUgraph inner);
CUgraphNode record(CUgraph g, CUevent e);

// 999 where the driver refuses.
[[nodiscard]] std::size_t count_nodes(CUgraph g);
[[nodiscard]] std::size_t edges(CUgraph g);
[[nodiscard]] std::size_t ndeps(CUgraphNode n);
[[nodiscard]] std::size_t ndependents(CUgraphNode n);

// Count and types of the nodes: "2: 0 5".
[[nodiscard]] std::string types(CUgraph g);
// cuGraphExecUpdate and everything it gives out.
[[nodiscard]] std::string update(CUgraphExec x, CUgraph g);
// cuGraphInstantiateWithParams and everything it gives out.
[[nodiscard]] std::string inst_params(CUgraph g, unsigned long long flags);

// Records how the capture ends; the graph goes to `out`.
[[nodiscard]] std::string end_of(CUstream s, CUgraph* out = nullptr);
// The capture status; from 100 on, the code that the question was answered with.
[[nodiscard]] int cap_status(CUstream s);

}  // namespace probe

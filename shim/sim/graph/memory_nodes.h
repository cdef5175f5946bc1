// SPDX-License-Identifier: Apache-2.0
// Nodes that allocate and free memory.
#pragma once

#include <functional>
#include <memory>

#include "core/api.h"
#include "graph/graph.h"

namespace cufault::sim {

// The work of an allocation node; params.dptr is set. Refuses as recorded (graph_memory_nodes).
[[nodiscard]] AllocWork make_allocation(Call& call, const CUDA_MEM_ALLOC_NODE_PARAMS& params);
// The work of a node that frees an address in this graph. Refuses with INVALID_VALUE.
[[nodiscard]] FreeWork make_free(Call& call, Graph& graph, CUdeviceptr address);
// Whether memory of an earlier launch is still allocated.
[[nodiscard]] bool allocated(const Driver& driver, const AllocWork& work);
void allocate_now(Driver& driver, const AllocWork& work);
void free_now(Driver& driver, const FreeWork& work);

}  // namespace cufault::sim

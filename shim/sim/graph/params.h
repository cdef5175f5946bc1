// SPDX-License-Identifier: Apache-2.0
// From the parameters of a node to its work, with the checks that adding and changing a node share.
#pragma once

#include "core/api.h"
#include "core/refusal.h"
#include "graph/graph.h"

namespace cufault::sim {

[[nodiscard]] CopyWork copy_work(const Call& call, const CUDA_MEMCPY3D* copy, CUcontext context);
[[nodiscard]] SetWork set_work(const Call& call, const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context);
[[nodiscard]] HostWork host_work(const CUDA_HOST_NODE_PARAMS* params);
[[nodiscard]] std::shared_ptr<Event> event_of_node(const Call& call, CUevent event);

// The work of type T that a node holds; refuses with INVALID_VALUE if it holds another.
template <class T>
[[nodiscard]] T& work_of(Node& node) {
  T* work = std::get_if<T>(&node.work);
  require(work != nullptr);
  return *work;
}

// The work of type T that an executable graph runs for a node. Refuses with INVALID_VALUE.
template <class T>
[[nodiscard]] T& work_of(GraphExec& exec, const Node& node) {
  ExecNode* own = exec.find(node);
  require(own != nullptr);
  T* work = std::get_if<T>(&own->work);
  require(work != nullptr);
  return *work;
}

// Recorded (graph_exec_update, graph_exec_set_params): what an executable graph does not accept for a node it has.
[[nodiscard]] bool same_shape(const SetWork& before, const SetWork& after);
[[nodiscard]] bool same_shape(const CopyWork& before, const CopyWork& after);

}  // namespace cufault::sim

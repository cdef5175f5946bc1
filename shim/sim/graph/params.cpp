// SPDX-License-Identifier: Apache-2.0
// Checks of node parameters.
#include "graph/params.h"

#include "core/call.h"
#include "event/event.h"
#include "memory/copy.h"

namespace cufault::sim {

CopyWork copy_work(const Call& call, const CUDA_MEMCPY3D* copy, CUcontext context) {
  require(copy != nullptr && copy->WidthInBytes != 0 && copy->Height != 0 && copy->Depth != 0);
  (void)plan_copy(call, *copy);
  return {*copy, context};
}

SetWork set_work(const Call& call, const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  require(set != nullptr && set->width != 0 && set->height != 0);
  (void)plan_set(call, *set);
  return {*set, context};
}

HostWork host_work(const CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr && params->fn != nullptr);
  return {*params};
}

std::shared_ptr<Event> event_of_node(const Call& call, CUevent event) {
  return call.use<Event>(event, CUDA_ERROR_INVALID_VALUE);
}

bool same_shape(const SetWork& before, const SetWork& after) { return (before.set.height > 1) == (after.set.height > 1); }

bool same_shape(const CopyWork& before, const CopyWork& after) {
  const auto dimensions = [](const CUDA_MEMCPY3D& copy) { return copy.Depth > 1 ? 3 : copy.Height > 1 ? 2 : 1; };
  return dimensions(before.copy) == dimensions(after.copy) && before.copy.srcMemoryType == after.copy.srcMemoryType &&
         before.copy.dstMemoryType == after.copy.dstMemoryType;
}

}  // namespace cufault::sim

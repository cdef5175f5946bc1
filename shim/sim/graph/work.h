// SPDX-License-Identifier: Apache-2.0
// One piece of work, whether a stream runs it at once, a capture turns it into a node, or a graph holds it as one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

struct Backing;
struct Context;
struct Device;
struct Event;
struct Function;
struct Graph;

struct EmptyWork {};

struct KernelWork {
  std::shared_ptr<Function> function;
  CUDA_KERNEL_NODE_PARAMS params{};  // func, kern and ctx as the caller gave them; kernelParams and extra null
  // The values of the parameters, one after another as the kernel sees them.
  std::vector<unsigned char> arguments;
  std::vector<void*> argument_pointers;  // into `arguments`: made for those who read the node's parameters
  std::map<int, CUlaunchAttributeValue> attributes;
};

struct CopyWork {
  CUDA_MEMCPY3D copy{};
  CUcontext context = nullptr;
};

struct SetWork {
  CUDA_MEMSET_NODE_PARAMS set{};
  CUcontext context = nullptr;
};

struct HostWork {
  CUDA_HOST_NODE_PARAMS params{};
};

struct RecordWork {
  std::shared_ptr<Event> event;
};

struct WaitWork {
  std::shared_ptr<Event> event;
};

struct ChildWork {
  std::shared_ptr<Graph> graph;
};

// Memory of a graph: its address is fixed when the node is made, its bytes are there from the launch on.
struct GraphMemory {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  std::shared_ptr<Backing> backing;
  Device* device = nullptr;
  Graph* freed_in = nullptr;  // the graph that has a node which frees it
};

struct AllocWork {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  std::shared_ptr<GraphMemory> memory;
  std::vector<CUmemAccessDesc> access;
};

struct FreeWork {
  CUdeviceptr address = 0;
  std::shared_ptr<GraphMemory> memory;  // null: allocated outside of the graph
};

struct BatchWork {
  CUcontext context = nullptr;
  unsigned flags = 0;
  std::vector<CUstreamBatchMemOpParams> operations;
};

struct ConditionalWork {
  CUgraphConditionalHandle handle = 0;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  unsigned size = 1;
  CUcontext context = nullptr;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> handles;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, RecordWork, WaitWork, ChildWork, AllocWork,
                          FreeWork, BatchWork, ConditionalWork>;

[[nodiscard]] CUgraphNodeType type_of(const Work& work) noexcept;

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Memory of graphs.
#include "graph/memory_nodes.h"

#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "core/driver.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/pool.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

// Allocation nodes by address, for the nodes that free them. Guarded by the driver's lock; never destroyed.
std::map<CUdeviceptr, std::weak_ptr<GraphMemory>>& graph_memory() {
  static auto& all = *new std::map<CUdeviceptr, std::weak_ptr<GraphMemory>>;
  return all;
}

// Recorded: graph memory is counted in steps of 32 MiB.
constexpr std::uint64_t kStep = 32u << 20;
std::uint64_t steps(std::uint64_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

AllocWork make_allocation(Call& call, const CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  require(params.bytesize != 0);
  const CUmemPoolProps& props = params.poolProps;
  require(props.allocType == CU_MEM_ALLOCATION_TYPE_PINNED && props.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  require(props.location.id >= 0 && static_cast<std::size_t>(props.location.id) < call.driver.device_count());
  require(props.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
  require(params.accessDescs != nullptr || params.accessDescCount == 0);
  Device& device = call.driver.device(props.location.id);
  require(params.bytesize <= device.profile.total_memory, CUDA_ERROR_OUT_OF_MEMORY);
  AllocWork work;
  work.params = params;
  work.access.assign(params.accessDescs, params.accessDescs + params.accessDescCount);
  work.memory = std::make_shared<GraphMemory>();
  work.memory->backing = make_backing(params.bytesize);
  work.memory->address = reinterpret_cast<CUdeviceptr>(work.memory->backing->where);
  work.memory->size = params.bytesize;
  work.memory->device = &device;
  work.params.dptr = work.memory->address;
  work.params.accessDescs = work.access.data();
  std::erase_if(graph_memory(), [](const auto& entry) { return entry.second.expired(); });
  graph_memory()[work.memory->address] = work.memory;
  return work;
}

FreeWork make_free(Call& call, Graph& graph, CUdeviceptr address) {
  (void)call;
  const auto found = graph_memory().find(address);
  require(found != graph_memory().end());
  auto memory = found->second.lock();
  require(memory != nullptr && memory->freed_in == nullptr);
  memory->freed_in = &graph;
  return {address, std::move(memory)};
}

bool allocated(const Driver& driver, const AllocWork& work) {
  const auto at = driver.memory.at(work.memory->address);
  return at != nullptr && at->kind == MemoryKind::graph;
}

void allocate_now(Driver& driver, const AllocWork& work) {
  const GraphMemory& memory = *work.memory;
  auto allocation = std::make_shared<Allocation>(memory.address, memory.size, MemoryKind::graph);
  allocation->backing = memory.backing;
  Device& device = *memory.device;
  std::uint64_t live = memory.size;
  driver.memory.for_each([&](const Allocation& other) { live += other.graph_device == &device ? other.size : 0; });
  // Recorded (graph_memory_nodes): what was used once stays used until it is trimmed.
  device.graph_used = std::max(device.graph_used, steps(live));
  device.graph_used_high = std::max(device.graph_used_high, device.graph_used);
  device.graph_reserved = std::max(device.graph_reserved, device.graph_used);
  device.graph_reserved_high = std::max(device.graph_reserved_high, device.graph_reserved);
  allocation->graph_device = &device;
  driver.memory.add(std::move(allocation));
}

void free_now(Driver& driver, const FreeWork& work) { driver.memory.remove(work.address); }

void capture_allocation(Call& call, Stream& stream, CUdeviceptr* out, std::size_t size, Pool* pool) {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  const Pool& from = pool != nullptr ? *pool : *stream.context->device.current_pool;
  params.poolProps = from.props;
  params.bytesize = size;
  require(!stream.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  AllocWork work = make_allocation(call, params);
  *out = work.memory->address;
  capture_work(call, stream, std::move(work));
}

void capture_free(Call& call, Stream& stream, CUdeviceptr address) {
  require(!stream.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  capture_work(call, stream, make_free(call, *stream.capture->graph, address));
}

}  // namespace cufault::sim

using namespace cufault::sim;

namespace {

std::uint64_t* counter(Device& device, CUgraphMem_attribute attribute) {
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: return &device.graph_used;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return &device.graph_used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: return &device.graph_reserved;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return &device.graph_reserved_high;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void* value) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    require(value != nullptr);
    *static_cast<cuuint64_t*>(value) = *counter(device, attribute);
  });
}

CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void* value) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    require(value != nullptr && *static_cast<const cuuint64_t*>(value) == 0);
    require(attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
    *counter(device, attribute) =
        attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ? device.graph_used : device.graph_reserved;
  });
}

CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    std::uint64_t live = 0;
    call.driver.memory.for_each([&](const Allocation& other) { live += other.graph_device == &device ? other.size : 0; });
    device.graph_reserved = device.graph_used = steps(live);
  });
}

// SPDX-License-Identifier: Apache-2.0
// Makers of graphs and nodes.
#include "cases/nodes.h"

namespace probe {
namespace {

std::string flag(const char* name, bool set) { return std::string{" "} + name + "=" + (set ? "1" : "0"); }

}  // namespace

CUgraph graph() {
  CUgraph g = nullptr;
  SETUP(cuGraphCreate(&g, 0));
  return g;
}

CUgraphExec inst(CUgraph g, unsigned long long flags) {
  CUgraphExec x = nullptr;
  SETUP(cuGraphInstantiate(&x, g, flags));
  return x;
}

CUDA_KERNEL_NODE_PARAMS kparams(CUfunction f, unsigned grid) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = f;
  params.gridDimX = grid;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  return params;
}

CUDA_MEMSET_NODE_PARAMS setparams(CUdeviceptr p, std::size_t width, std::size_t height, unsigned element) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = p;
  params.elementSize = element;
  params.width = width;
  params.height = height;
  params.pitch = 256;
  return params;
}

CUDA_MEMCPY3D dtod(CUdeviceptr to, CUdeviceptr from, std::size_t width, std::size_t height) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = from;
  params.dstDevice = to;
  params.srcPitch = params.dstPitch = 256;
  params.WidthInBytes = width;
  params.Height = height;
  params.Depth = 1;
  return params;
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps = pool_props();
  params.bytesize = bytes;
  return params;
}

CUgraphNode empty(CUgraph g, const Nodes& after) {
  CUgraphNode n = nullptr;
  SETUP(cuGraphAddEmptyNode(&n, g, after.data(), after.size()));
  return n;
}

CUgraphNode kern(CUgraph g, CUfunction f, const Nodes& after, unsigned grid) {
  CUgraphNode n = nullptr;
  const auto params = kparams(f, grid);
  SETUP(cuGraphAddKernelNode(&n, g, after.data(), after.size(), &params));
  return n;
}

CUgraphNode mset(CUgraph g, CUdeviceptr p, const Nodes& after) {
  CUgraphNode n = nullptr;
  const auto params = setparams(p);
  SETUP(cuGraphAddMemsetNode(&n, g, after.data(), after.size(), &params, prim));
  return n;
}

CUgraphNode copy(CUgraph g, const CUDA_MEMCPY3D& what) {
  CUgraphNode n = nullptr;
  SETUP(cuGraphAddMemcpyNode(&n, g, nullptr, 0, &what, prim));
  return n;
}

CUgraphNode host(CUgraph g, CUhostFn f, void* user, const Nodes& after) {
  CUgraphNode n = nullptr;
  const CUDA_HOST_NODE_PARAMS params{f, user};
  SETUP(cuGraphAddHostNode(&n, g, after.data(), after.size(), &params));
  return n;
}

CUgraphNode child(CUgraph g, CUgraph inner) {
  CUgraphNode n = nullptr;
  SETUP(cuGraphAddChildGraphNode(&n, g, nullptr, 0, inner));
  return n;
}

CUgraphNode record(CUgraph g, CUevent e) {
  CUgraphNode n = nullptr;
  SETUP(cuGraphAddEventRecordNode(&n, g, nullptr, 0, e));
  return n;
}

std::size_t count_nodes(CUgraph g) {
  std::size_t n = 999;
  cuGraphGetNodes(g, nullptr, &n);
  return n;
}

std::size_t edges(CUgraph g) {
  std::size_t n = 999;
  cuGraphGetEdges(g, nullptr, nullptr, nullptr, &n);
  return n;
}

std::size_t ndeps(CUgraphNode n) {
  std::size_t k = 999;
  cuGraphNodeGetDependencies(n, nullptr, nullptr, &k);
  return k;
}

std::size_t ndependents(CUgraphNode n) {
  std::size_t k = 999;
  cuGraphNodeGetDependentNodes(n, nullptr, nullptr, &k);
  return k;
}

std::string types(CUgraph g) {
  std::size_t n = 0;
  if (cuGraphGetNodes(g, nullptr, &n) != CUDA_SUCCESS) return "?";
  Nodes nodes(n + 1);
  cuGraphGetNodes(g, nodes.data(), &n);
  std::string all = std::to_string(n) + ":";
  for (std::size_t i = 0; i < n; i++) {
    auto type = static_cast<CUgraphNodeType>(-1);
    cuGraphNodeGetType(nodes[i], &type);
    all += " " + std::to_string(static_cast<int>(type));
  }
  return all;
}

std::string update(CUgraphExec x, CUgraph g) {
  CUgraphExecUpdateResultInfo info{};
  info.result = static_cast<CUgraphExecUpdateResult>(77);
  const CUresult result = cuGraphExecUpdate(x, g, &info);
  return name_of(result) + " result=" + std::to_string(static_cast<int>(info.result)) +
         flag("errorNode", info.errorNode != nullptr) + flag("errorFromNode", info.errorFromNode != nullptr);
}

std::string inst_params(CUgraph g, unsigned long long flags) {
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = flags;
  params.result_out = static_cast<CUgraphInstantiateResult>(77);
  CUgraphExec x = nullptr;
  const CUresult result = cuGraphInstantiateWithParams(&x, g, &params);
  return name_of(result) + " result=" + std::to_string(static_cast<int>(params.result_out)) +
         flag("errorNode", params.hErrNode_out != nullptr) + flag("exec", x != nullptr);
}

std::string end_of(CUstream s, CUgraph* out) {
  const auto untouched = reinterpret_cast<CUgraph>(1);
  CUgraph g = untouched;
  const CUresult result = cuStreamEndCapture(s, &g);
  if (out != nullptr) *out = g;
  return name_of(result) + (g == untouched ? " graph=untouched" : g != nullptr ? " graph=set" : " graph=null");
}

int cap_status(CUstream s) {
  auto status = static_cast<CUstreamCaptureStatus>(-1);
  const CUresult result = cuStreamIsCapturing(s, &status);
  return result == CUDA_SUCCESS ? static_cast<int>(status) : 100 + static_cast<int>(result);
}

}  // namespace probe

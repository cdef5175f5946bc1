// SPDX-License-Identifier: Apache-2.0
// Makes and destroys one object of every kind.
#include "cases/objects.h"

#include <cstdlib>

#include "cases/fixtures.h"

namespace probe {
namespace {

void make_graph(Objects& r) {
  SETUP(cuGraphCreate(&r.g, 0));
  SETUP(cuGraphAddEmptyNode(&r.n, r.g, nullptr, 0));
  SETUP(cuGraphInstantiate(&r.ge, r.g, 0));
  SETUP(cuGraphCreate(&r.g2, 0));
}

void make_arrays(Objects& r) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = 64;
  shape.Height = 64;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  SETUP(cuArray3DCreate(&r.arr, &shape));
  shape.Flags = 0;
  SETUP(cuMipmappedArrayCreate(&r.mip, &shape, 3));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = r.arr;
  const CUDA_TEXTURE_DESC sampling{};
  SETUP(cuTexObjectCreate(&r.tex, &resource, &sampling, nullptr));
  SETUP(cuSurfObjectCreate(&r.surf, &resource));
}

void make_green_context(Objects& r) {
  CUdevResource all{};
  CUdevResource part{};
  CUdevResource rest{};
  CUdevResourceDesc description{};
  unsigned groups = 1;
  SETUP(cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
  SETUP(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16));
  SETUP(cuDevResourceGenerateDesc(&description, &part, 1));
  SETUP(cuGreenCtxCreate(&r.gc, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
}

void make_mapping(Objects& r) {
  const CUmemAllocationProp props = vmm_props();
  SETUP(cuMemGetAllocationGranularity(&r.gran, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  SETUP(cuMemAddressReserve(&r.va, r.gran, 0, 0, 0));
  SETUP(cuMemCreate(&r.vh, r.gran, &props, 0));
  SETUP(cuMemMap(r.va, r.gran, 0, r.vh, 0));
}

void unmap(Objects& r) {
  CALL(cuMemUnmap(r.va, r.gran));
  CALL(cuMemRelease(r.vh));
  CALL(cuMemAddressFree(r.va, r.gran));
}

}  // namespace

void make(Objects& r, Green green) {
  SETUP(cuStreamCreate(&r.st, CU_STREAM_NON_BLOCKING));
  SETUP(cuEventCreate(&r.ev, CU_EVENT_DEFAULT));
  SETUP(cuMemAlloc(&r.dp, 4096));
  SETUP(cuMemAllocHost(&r.host, 4096));
  r.pool = pool();
  SETUP(cuMemAllocFromPoolAsync(&r.dpa, 4096, r.pool, r.st));
  SETUP(cuStreamSynchronize(r.st));
  make_graph(r);
  make_arrays(r);
  SETUP(cuLinkCreate(0, nullptr, nullptr, &r.ls));
  SETUP(cuModuleLoadData(&r.m2, faulting_program));
  SETUP(cuLibraryLoadData(&r.lib, faulting_program, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SETUP(cuUserObjectCreate(&r.uo, std::malloc(1), std::free, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (green == Green::with) make_green_context(r);
  make_mapping(r);
}

void destroy_all(Objects& r) {
  CALL(cuTexObjectDestroy(r.tex));
  CALL(cuSurfObjectDestroy(r.surf));
  CALL(cuArrayDestroy(r.arr));
  CALL(cuMipmappedArrayDestroy(r.mip));
  CALL(cuLinkDestroy(r.ls));
  CALL(cuModuleUnload(r.m2));
  CALL(cuLibraryUnload(r.lib));
  CALL(cuUserObjectRelease(r.uo, 1));
  CALL(cuGraphExecDestroy(r.ge));
  CALL(cuGraphDestroyNode(r.n));
  CALL(cuGraphDestroy(r.g));
  CALL(cuGraphDestroy(r.g2));
  CALL(cuMemFreeAsync(r.dpa, r.st));
  CALL(cuMemPoolDestroy(r.pool));
  CALL(cuMemFree(r.dp));
  CALL(cuMemFreeHost(r.host));
  unmap(r);
  CALL(cuEventDestroy(r.ev));
  CALL(cuStreamDestroy(r.st));
  CALL(cuGreenCtxDestroy(r.gc));
}

std::span<const Destroyer> destroyers() {
  static const Destroyer all[] = {
      {"stream", [](Objects& r) { CALL(cuStreamDestroy(r.st)); }},
      {"event", [](Objects& r) { CALL(cuEventDestroy(r.ev)); }},
      {"mem", [](Objects& r) { CALL(cuMemFree(r.dp)); }},
      {"memasync", [](Objects& r) { CALL(cuMemFreeAsync(r.dpa, nullptr)); }},
      {"pool", [](Objects& r) { CALL(cuMemPoolDestroy(r.pool)); }},
      {"graph", [](Objects& r) { CALL(cuGraphDestroy(r.g)); }},
      {"exec", [](Objects& r) { CALL(cuGraphExecDestroy(r.ge)); }},
      {"array", [](Objects& r) { CALL(cuArrayDestroy(r.arr)); }},
      {"mip", [](Objects& r) { CALL(cuMipmappedArrayDestroy(r.mip)); }},
      {"tex", [](Objects& r) { CALL(cuTexObjectDestroy(r.tex)); }},
      {"surf", [](Objects& r) { CALL(cuSurfObjectDestroy(r.surf)); }},
      {"link", [](Objects& r) { CALL(cuLinkDestroy(r.ls)); }},
      {"module", [](Objects& r) { CALL(cuModuleUnload(r.m2)); }},
      {"library", [](Objects& r) { CALL(cuLibraryUnload(r.lib)); }},
      {"host", [](Objects& r) { CALL(cuMemFreeHost(r.host)); }},
      {"uo", [](Objects& r) { CALL(cuUserObjectRelease(r.uo, 1)); }},
      {"vmm", unmap},
  };
  return all;
}

}  // namespace probe

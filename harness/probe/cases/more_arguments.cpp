// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time, for functions that no recording has: devices and contexts, memory, streams and the rest.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void devices_and_contexts() {
  boot();
  CUgreenCtx gc = nullptr;
  CUevent e = event();
  int a;
  int b;
  CUdevprop p;
  CUlogIterator it = 0;
  char text[64];
  std::size_t z = sizeof text;
  bool on = true;
  std::size_t one = sizeof on;
  CALL(cuDeviceComputeCapability(nullptr, &b, dev));
  CALL(cuDeviceComputeCapability(&a, nullptr, dev));
  CALL(cuDeviceComputeCapability(&a, &b, 99));
  CALL(cuDeviceGetProperties(nullptr, dev));
  CALL(cuDeviceGetProperties(&p, 99));
  CALL(cuGreenCtxRecordEvent(gc, e));
  CALL(cuGreenCtxWaitEvent(gc, e));
  CALL(cuGreenCtxGetId(nullptr, nullptr));
  CALL(cuGreenCtxStreamCreate(nullptr, gc, CU_STREAM_NON_BLOCKING, 0));
  CALL(cuLogsCurrent(nullptr, 0));
  CALL(cuLogsCurrent(&it, 1));
  CALL(cuLogsDumpToFile(nullptr, nullptr, 0));
  CALL(cuLogsDumpToFile(nullptr, "/no/such/folder/log", 0));
  CALL(cuLogsDumpToFile(nullptr, "/dev/null", 1));
  CALL(cuLogsDumpToMemory(nullptr, nullptr, &z, 0));
  CALL(cuLogsDumpToMemory(nullptr, text, nullptr, 0));
  CALL(cuLogsDumpToMemory(nullptr, text, &z, 1));
  CALL(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, nullptr, &one));
  CALL(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, nullptr));
  CALL(cuCoredumpGetAttribute((CUcoredumpSettings)99, &on, &one));
  CALL(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, nullptr, &one));
  CALL(cuCoredumpSetAttribute((CUcoredumpSettings)99, &on, &one));
  CALL(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, nullptr, &one));
  CALL(cuCoredumpSetAttributeGlobal((CUcoredumpSettings)99, &on, &one));
}

CUarray array(std::size_t height) {
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = 64;
  shape.Height = height;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  CUarray made = nullptr;
  SETUP(cuArrayCreate(&made, &shape));
  return made;
}

void array_copies() {
  boot();
  CUarray line = array(0);
  CUarray plane = array(64);
  CUdeviceptr p = mem();
  CUstream s = stream();
  char h[256] = {};
  CALL(cuMemcpyHtoA(line, 0, h, 256));
  CALL(cuMemcpyHtoA(line, 0, h, 257));
  CALL(cuMemcpyHtoA(line, 256, h, 0));
  CALL(cuMemcpyHtoA(line, 2, h, 4));
  CALL(cuMemcpyHtoA(plane, 0, h, 64));
  CALL(cuMemcpyHtoA(nullptr, 0, h, 64));
  CALL(cuMemcpyHtoA(line, 0, nullptr, 64));
  CALL(cuMemcpyAtoH(h, line, 0, 256));
  CALL(cuMemcpyAtoH(h, line, 4, 256));
  CALL(cuMemcpyAtoH(nullptr, line, 0, 64));
  CALL(cuMemcpyAtoH(h, nullptr, 0, 64));
  CALL(cuMemcpyDtoA(line, 0, p, 256));
  CALL(cuMemcpyDtoA(line, 0, 0, 256));
  CALL(cuMemcpyAtoD(p, line, 0, 256));
  CALL(cuMemcpyAtoD(0, line, 0, 256));
  CALL(cuMemcpyAtoA(line, 0, line, 128, 64));
  CALL(cuMemcpyAtoA(line, 0, plane, 0, 64));
  CALL(cuMemcpyAtoA(nullptr, 0, line, 0, 64));
  CALL(cuMemcpyHtoAAsync(line, 0, h, 256, s));
  CALL(cuMemcpyHtoAAsync(line, 0, h, 257, s));
  CALL(cuMemcpyAtoHAsync(h, line, 0, 256, s));
  CALL(cuMemcpyAtoHAsync(h, line, 1, 256, s));
  CALL(cuCtxSynchronize());
}

void memory() {
  boot();
  CUdeviceptr p = mem();
  CUdeviceptr q = mem();
  CUdeviceptr m = managed(4096);
  CUstream s = stream();
  CUmemoryPool mp = pool();
  CUmemoryPool got;
  CUmemLocation l = DEV0;
  CUmemLocation bad = DEV99;
  std::size_t bytes = 4096;
  std::size_t first = 0;
  CUarrayMapInfo map{};
  CALL(cuMemcpyDtoDAsync(0, p, 64, s));
  CALL(cuMemcpyDtoDAsync(q, 0, 64, s));
  CALL(cuMemcpyDtoDAsync(q, p, 4097, s));
  CALL(cuMemcpy3DAsync(nullptr, s));
  CALL(cuMemcpy3DPeerAsync(nullptr, s));
  CALL(cuMemsetD16Async(p + 1, 0, 4, s));
  CALL(cuMemsetD16Async(0, 0, 4, s));
  CALL(cuMemsetD2D16Async(p, 100, 1, 64, 4, s));
  CALL(cuMemsetD2D32Async(p, 100, 1, 64, 4, s));
  CALL(cuMemsetD2D8Async(p, 100, 1, 128, 4, s));
  CALL(cuMemGetDefaultMemPool(nullptr, &l, CU_MEM_ALLOCATION_TYPE_PINNED));
  CALL(cuMemGetDefaultMemPool(&got, nullptr, CU_MEM_ALLOCATION_TYPE_PINNED));
  CALL(cuMemGetDefaultMemPool(&got, &bad, CU_MEM_ALLOCATION_TYPE_PINNED));
  CALL(cuMemGetDefaultMemPool(&got, &l, CU_MEM_ALLOCATION_TYPE_INVALID));
  CALL(cuMemGetMemPool(nullptr, &l, CU_MEM_ALLOCATION_TYPE_PINNED));
  CALL(cuMemGetMemPool(&got, nullptr, CU_MEM_ALLOCATION_TYPE_PINNED));
  CALL(cuMemGetMemPool(&got, &l, CU_MEM_ALLOCATION_TYPE_MANAGED));
  CALL(cuMemSetMemPool(nullptr, CU_MEM_ALLOCATION_TYPE_PINNED, mp));
  CALL(cuMemSetMemPool(&bad, CU_MEM_ALLOCATION_TYPE_PINNED, mp));
  CALL(cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, nullptr));
  CALL(cuMemDiscardAndPrefetchBatchAsync(&m, &bytes, 1, &l, &first, 1, 0, s));
  CALL(cuMemDiscardAndPrefetchBatchAsync(&m, &bytes, 1, &bad, &first, 1, 0, s));
  CALL(cuMemDiscardAndPrefetchBatchAsync(&m, &bytes, 1, &l, &first, 1, 7, s));
  CALL(cuMemDiscardAndPrefetchBatchAsync(nullptr, &bytes, 1, &l, &first, 1, 0, s));
  CALL(cuMemDiscardAndPrefetchBatchAsync(&p, &bytes, 1, &l, &first, 1, 0, s));
  CALL(cuMemMapArrayAsync(nullptr, 1, s));
  CALL(cuMemMapArrayAsync(nullptr, 0, s));
  CALL(cuMemMapArrayAsync(&map, 1, s));
  CALL(cuCtxSynchronize());
}

void streams_and_functions() {
  boot();
  CUfunction f = fn("ok");
  CUstream s = stream();
  CUstream s2 = stream();
  CUstreamAttrValue v{};
  CUDA_RESOURCE_DESC rd;
  CUsurfref surface;
  CUexternalSemaphore none = nullptr;
  const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wp{};
  int n;
  int g;
  CALL(cuStreamCopyAttributes(nullptr, s));
  CALL(cuStreamCopyAttributes(s, nullptr));
  CALL(cuStreamCopyAttributes(s, s2));
  CALL(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr));
  CALL(cuStreamSetAttribute(s, (CUstreamAttrID)99, &v));
  CALL(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
  v.syncPolicy = static_cast<CUsynchronizationPolicy>(9);
  STEP("a synchronisation policy that does not exist",
       cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
  v.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC;
  STEP("a synchronisation policy", cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
  CALL(cuStreamCopyAttributes(s2, s));
  v = {};
  CALL(cuStreamGetAttribute(s2, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
  STEP("the copied policy", v.syncPolicy);
  CALL(cuStreamGetAttribute(s, (CUstreamAttrID)99, &v));
  CALL(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr));
  CALL(cuOccupancyMaxPotentialBlockSizeWithFlags(&g, &n, f, nullptr, 0, 0, 9));
  CALL(cuOccupancyMaxPotentialBlockSizeWithFlags(nullptr, &n, f, nullptr, 0, 0, 0));
  CALL(cuParamSetf(f, 0, 1));
  CALL(cuParamSetv(f, 0, &n, 4));
  CALL(cuParamSetv(f, 0, nullptr, 4));
  CALL(cuSurfObjectGetResourceDesc(&rd, 0));
  CALL(cuSurfObjectGetResourceDesc(nullptr, 0));
  CALL(cuModuleGetSurfRef(&surface, mod, "none"));
  CALL(cuModuleGetSurfRef(nullptr, mod, "none"));
  CALL(cuWaitExternalSemaphoresAsync(nullptr, nullptr, 0, s));
  CALL(cuWaitExternalSemaphoresAsync(nullptr, &wp, 1, s));
  CALL(cuWaitExternalSemaphoresAsync(&none, &wp, 1, s));
  CALL(cuCtxSynchronize());
}

}  // namespace

void add_more_arguments(CaseList& list) {
  list.independent("more_arguments_device", devices_and_contexts);
  list.independent("more_arguments_array_copies", array_copies);
  list.independent("more_arguments_memory", memory);
  list.independent("more_arguments_stream", streams_and_functions);
}

}  // namespace probe

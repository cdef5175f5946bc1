// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time: devices and contexts.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void devices() {
  boot();
  CUdevice d;
  CUuuid u;
  CUcontext c;
  char b[64];
  int n;
  unsigned k;
  std::size_t z;
  CALL(cuInit(1));
  CALL(cuDriverGetVersion(nullptr));
  CALL(cuDeviceGet(nullptr, 0));
  CALL(cuDeviceGet(&d, -1));
  CALL(cuDeviceGetCount(nullptr));
  CALL(cuDeviceGetName(nullptr, 10, dev));
  CALL(cuDeviceGetName(b, 0, dev));
  CALL(cuDeviceGetName(b, -1, dev));
  CALL(cuDeviceGetName(b, 10, -1));
  CALL(cuDeviceGetUuid(nullptr, dev));
  CALL(cuDeviceGetUuid(&u, 99));
  CALL(cuDeviceTotalMem(nullptr, dev));
  CALL(cuDeviceTotalMem(&z, -1));
  CALL(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
  CALL(cuDeviceGetAttribute(&n, (CUdevice_attribute)0, dev));
  CALL(cuDeviceGetAttribute(&n, (CUdevice_attribute)-1, dev));
  CALL(cuDeviceGetAttribute(&n, (CUdevice_attribute)9999, dev));
  CALL(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1));
  CALL(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1));
  CALL(cuDeviceGetLuid(b, &k, dev));
  CALL(cuDeviceGetPCIBusId(nullptr, 20, dev));
  CALL(cuDeviceGetPCIBusId(b, 0, dev));
  CALL(cuDeviceGetPCIBusId(b, -1, dev));
  CALL(cuDeviceGetPCIBusId(b, 20, 77));
  CALL(cuDeviceGetByPCIBusId(nullptr, "0000:00:00.0"));
  CALL(cuDeviceGetByPCIBusId(&d, nullptr));
  CALL(cuDevicePrimaryCtxRetain(nullptr, dev));
  CALL(cuDevicePrimaryCtxRetain(&c, -1));
  CALL(cuDevicePrimaryCtxGetState(dev, nullptr, &n));
  CALL(cuDevicePrimaryCtxGetState(dev, &k, nullptr));
  CALL(cuDevicePrimaryCtxGetState(-1, &k, &n));
  CALL(cuDevicePrimaryCtxSetFlags(dev, 0xFFFF));
  CALL(cuDevicePrimaryCtxSetFlags(dev, 3));
  CALL(cuDevicePrimaryCtxSetFlags(99, 0));
  CALL(cuDevicePrimaryCtxReset(99));

  CUmemoryPool mp;
  CALL(cuDeviceGetDefaultMemPool(nullptr, dev));
  CALL(cuDeviceGetDefaultMemPool(&mp, 99));
  CALL(cuDeviceGetMemPool(nullptr, dev));
  CALL(cuDeviceGetMemPool(&mp, -1));
  CALL(cuDeviceSetMemPool(dev, nullptr));
  CALL(cuDeviceSetMemPool(99, nullptr));
  CALL(cuDeviceGetExecAffinitySupport(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev));
  CALL(cuDeviceGetExecAffinitySupport(&n, (CUexecAffinityType)7, dev));
  CALL(cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, dev));
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, (CUarray_format)0, 1, dev));
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_FLOAT, 3, dev));
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_FLOAT, 0, dev));

  cuuint64_t v = 1;
  CALL(cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
  CALL(cuDeviceGetGraphMemAttribute(dev, (CUgraphMem_attribute)9, &v));
  CALL(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, nullptr));
  v = 1;
  CALL(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &v));
  v = 0;
  CALL(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &v));
  CALL(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &v));
  CALL(cuDeviceGraphMemTrim(99));
  CALL(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)5, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  CALL(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                  (CUflushGPUDirectRDMAWritesScope)1));
  CALL(cuGetErrorName(CUDA_SUCCESS, nullptr));
  CALL(cuGetErrorString(CUDA_SUCCESS, nullptr));
}

void contexts() {
  boot();
  CUcontext c;
  CUdevice d;
  CUdevResource r{};
  CUexecAffinityParam ap{};
  CUevent e = event();
  int a;
  int b;
  unsigned k;
  unsigned long long id;
  std::size_t z;
  CALL(cuCtxCreate(nullptr, nullptr, 0, dev));
  CALL(cuCtxCreate(&c, nullptr, 0xFFFF, dev));
  CALL(cuCtxCreate(&c, nullptr, 3, dev));
  CALL(cuCtxCreate(&c, nullptr, 0, 99));
  CALL(cuCtxCreate(&c, nullptr, 0, -1));
  CALL(cuCtxGetCurrent(nullptr));
  CALL(cuCtxGetDevice(nullptr));
  CALL(cuCtxGetFlags(nullptr));
  CALL(cuCtxGetId(prim, nullptr));
  CALL(cuCtxGetId(nullptr, &id));
  CALL(cuCtxGetApiVersion(prim, nullptr));
  CALL(cuCtxGetApiVersion(nullptr, &k));
  CALL(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  CALL(cuCtxGetLimit(&z, (CUlimit)99));
  CALL(cuCtxSetLimit((CUlimit)99, 1));
  CALL(cuCtxGetCacheConfig(nullptr));
  CALL(cuCtxSetCacheConfig((CUfunc_cache)9));
  CALL(cuCtxGetStreamPriorityRange(nullptr, nullptr));
  CALL(cuCtxGetStreamPriorityRange(nullptr, &b));
  CALL(cuCtxGetStreamPriorityRange(&a, nullptr));
  CALL(cuCtxPushCurrent(nullptr));
  CALL(cuCtxPopCurrent(nullptr));
  SETUP(cuCtxSetCurrent(prim));
  CALL(cuCtxSetFlags(0xFFFF));
  CALL(cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  CALL(cuCtxGetExecAffinity(&ap, (CUexecAffinityType)7));
  CALL(cuCtxRecordEvent(nullptr, e));
  CALL(cuCtxRecordEvent(prim, nullptr));
  CALL(cuCtxWaitEvent(nullptr, e));
  CALL(cuCtxWaitEvent(prim, nullptr));
  CALL(cuCtxSynchronize_v2(nullptr));
  CALL(cuCtxGetDevice_v2(nullptr, prim));
  CALL(cuCtxGetDevice_v2(&d, nullptr));
  CALL(cuCtxGetDevResource(prim, nullptr, CU_DEV_RESOURCE_TYPE_SM));
  CALL(cuCtxGetDevResource(prim, &r, CU_DEV_RESOURCE_TYPE_INVALID));
  CALL(cuCtxGetDevResource(prim, &r, (CUdevResourceType)9));
  CALL(cuCtxGetDevResource(nullptr, &r, CU_DEV_RESOURCE_TYPE_SM));
  CALL(cuCtxEnablePeerAccess(prim, 0));
  CALL(cuCtxEnablePeerAccess(nullptr, 0));
  CALL(cuCtxDisablePeerAccess(prim));
  CALL(cuCtxDisablePeerAccess(nullptr));
  CALL(cuDevicePrimaryCtxRelease(-1));
}

}  // namespace

void add_device_arguments(CaseList& list) {
  list.independent("args_device", devices);
  list.independent("args_context", contexts);
}

}  // namespace probe

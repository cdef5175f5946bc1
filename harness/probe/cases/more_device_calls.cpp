// SPDX-License-Identifier: Apache-2.0
// One good call of each function: devices, contexts, green contexts, look-ups, sharing of events and memory.
#include <cudaProfiler.h>

#include "cases/more_calls.h"

namespace probe {
namespace {

const CUatomicOperation add_operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
CUexecAffinityParam affinity;
CUfunc_cache cache;
CUsharedconfig shared_config;
CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
CUdriverProcAddressQueryResult query;
CUasyncCallbackHandle notification;
CUlogIterator logs;
CUdevprop properties;
bool flag;

void CUDA_CB notified(CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {}

CUdevResource all_multiprocessors() {
  CUdevResource all{};
  cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM);
  return all;
}

CUresult split() {
  const CUdevResource all = all_multiprocessors();
  o.u = 1;
  return cuDevSmResourceSplitByCount(&o.res, &o.u, &all, nullptr, 0, 16);
}

CUresult describe() {
  CUdevResource all = all_multiprocessors();
  return cuDevResourceGenerateDesc(&o.desc, &all, 1);
}

const GoodCall calls[] = {
    GOOD(cuInit(0)),
    GOOD(cuDeviceGet(&o.dev, 0)),
    GOOD(cuDeviceGetName(o.text, 256, dev)),
    GOOD(cuDeviceGetUuid(&o.uuid, dev)),
    GOOD(cuDeviceTotalMem(&o.z, dev)),
    GOOD(cuDeviceComputeCapability(&o.n, &o.n2, dev)),
    GOOD(cuDeviceGetProperties(&properties, dev)),
    GOOD(cuDeviceGetPCIBusId(o.text, 256, dev)),
    GOOD(cuDeviceCanAccessPeer(&o.n, dev, dev)),
    GOOD(cuDeviceGetP2PAttribute(&o.n, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, dev, dev)),
    GOOD(cuDeviceGetHostAtomicCapabilities(&o.u, &add_operation, 1, dev)),
    GOOD(cuDeviceGetExecAffinitySupport(&o.n, CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev)),
    GOOD(cuDeviceGetTexture1DLinearMaxWidth(&o.z, CU_AD_FORMAT_FLOAT, 1, dev)),
    GOOD(cuDeviceGetDefaultMemPool(&o.pool, dev)),
    GOOD(cuDeviceGetMemPool(&o.pool, dev)),
    GOOD(cuDeviceSetMemPool(dev, r.pool)),
    GOOD(cuDeviceGetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &o.u64)),
    GOOD(cuDeviceSetGraphMemAttribute(dev, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &o.u64)),
    GOOD(cuDeviceGraphMemTrim(dev)),
    GOOD(cuDevicePrimaryCtxSetFlags(dev, 0)),
    GOOD(cuDeviceRegisterAsyncNotification(dev, notified, nullptr, &notification)),
    GOOD(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                    CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER)),
    GOOD(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &o.c)),
    GOOD(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &o.c)),
    GOOD(cuGetProcAddress("cuMemAlloc", &o.v, 13000, 0, &query)),
    GOOD(cuCtxDestroy(prim)),
    GOOD(cuCtxAttach(&o.ctx, 0)),
    GOOD(cuCtxDetach(prim)),
    GOOD(cuCtxEnablePeerAccess(prim, 0)),
    GOOD(cuCtxDisablePeerAccess(prim)),
    GOOD(cuCtxGetCacheConfig(&cache)),
    GOOD(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE)),
    GOOD(cuCtxGetSharedMemConfig(&shared_config)),
    GOOD(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE)),
    GOOD(cuCtxGetFlags(&o.u)),
    GOOD(cuCtxSetFlags(0)),
    GOOD(cuCtxGetLimit(&o.z, CU_LIMIT_STACK_SIZE)),
    GOOD(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048)),
    GOOD(cuCtxGetStreamPriorityRange(&o.n, &o.n2)),
    GOOD(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT)),
    GOOD(cuCtxGetDevResource(prim, &o.res, CU_DEV_RESOURCE_TYPE_SM)),
    GOOD(cuCtxGetDevice_v2(&o.dev, prim)),
    GOOD(cuCtxSynchronize_v2(prim)),
    GOOD(cuCtxRecordEvent(prim, t.e)),
    GOOD(cuCtxWaitEvent(prim, t.e)),
    GOOD(cuCtxResetPersistingL2Cache()),
    GOOD(cuThreadExchangeStreamCaptureMode(&capture_mode)),
    GOOD(cuDeviceGetDevResource(dev, &o.res, CU_DEV_RESOURCE_TYPE_SM)),
    GoodCall{"cuDevSmResourceSplitByCount", split},
    GoodCall{"cuDevResourceGenerateDesc", describe},
    GOOD(cuCtxFromGreenCtx(&o.ctx, r.gc)),
    GOOD(cuGreenCtxGetDevResource(r.gc, &o.res, CU_DEV_RESOURCE_TYPE_SM)),
    GOOD(cuGreenCtxGetId(r.gc, &o.ull)),
    GOOD(cuGreenCtxRecordEvent(r.gc, t.e)),
    GOOD(cuGreenCtxWaitEvent(r.gc, t.e)),
    GOOD(cuGreenCtxStreamCreate(&o.s, r.gc, CU_STREAM_NON_BLOCKING, 0)),
    GOOD(cuIpcGetEventHandle(&o.ie, t.ip)),
    GOOD(cuIpcGetMemHandle(&o.im, t.p)),
    GOOD(cuProfilerStart()),
    GOOD(cuProfilerStop()),
    GOOD(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &flag, &o.z)),
    GOOD(cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &flag, &o.z)),
    GOOD(cuLogsCurrent(&logs, 0)),
    GOOD(cuLogsDumpToFile(nullptr, "/dev/null", 0)),
    GOOD(cuLogsDumpToMemory(nullptr, o.text, &o.z, 0)),
};

}  // namespace

std::span<const GoodCall> good_device_calls() { return calls; }

}  // namespace probe

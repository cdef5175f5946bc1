// SPDX-License-Identifier: Apache-2.0
// Devices: attributes, peers, queries, and everything before the driver is initialised.
#include <cudaProfiler.h>

#include "cases/cases.h"
#include "cases/device_attributes.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void attributes() {
  SETUP(cuInit(0));
  for (const DeviceAttribute& attribute : device_attributes) {
    step(attribute.name, [&] {
      int v = -77;
      const CUresult result = cuDeviceGetAttribute(&v, attribute.id, 0);
      return result == CUDA_SUCCESS ? std::to_string(v) : name_of(result);
    });
  }
}

void peers() {
  boot();
  int v = 77;
  CALL(cuDeviceCanAccessPeer(&v, dev, dev));
  STEP("self", v);
  v = 77;
  CALL(cuDeviceCanAccessPeer(&v, dev, 99));
  STEP("untouched", v == 77);
  CALL(cuDeviceCanAccessPeer(&v, -1, dev));
  CALL(cuDeviceCanAccessPeer(nullptr, dev, dev));
  CALL(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, dev));
  CALL(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, dev, 99));
  CALL(cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, dev, dev));
  CALL(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)0, dev, dev));
  CALL(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)99, dev, dev));
  unsigned c[2] = {77, 77};
  CUatomicOperation op[2] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  CALL(cuDeviceGetP2PAtomicCapabilities(c, op, 2, dev, dev));
  CALL(cuDeviceGetHostAtomicCapabilities(c, op, 2, dev));
  STEP("add", c[0]);
  STEP("cas", c[1]);
  CALL(cuDeviceGetHostAtomicCapabilities(nullptr, op, 2, dev));
  CALL(cuDeviceGetHostAtomicCapabilities(c, nullptr, 2, dev));
  CALL(cuDeviceGetHostAtomicCapabilities(c, op, 0, dev));
  op[1] = static_cast<CUatomicOperation>(99);
  CALL(cuDeviceGetHostAtomicCapabilities(c, op, 2, dev));
  CALL(cuDeviceGetHostAtomicCapabilities(c, op, 1, 99));
}

void notifications() {
  CUasyncCallbackHandle h = nullptr;
  const CUasyncCallback cb = [](CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {};
  CALL(cuDeviceRegisterAsyncNotification(dev, cb, nullptr, &h));
  CALL(cuDeviceRegisterAsyncNotification(dev, nullptr, nullptr, &h));
  CALL(cuDeviceRegisterAsyncNotification(99, cb, nullptr, &h));
  CALL(cuDeviceUnregisterAsyncNotification(dev, nullptr));
}

void queries() {
  boot();
  std::size_t z = 0;
  int v = 77;
  CALL(cuDeviceTotalMem(&z, dev));
  STEP("more than 130 GiB", z > (130ull << 30));
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_FLOAT, 1, dev));
  STEP("width float x1", z);
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_FLOAT, 4, dev));
  STEP("width float x4", z);
  CALL(cuDeviceGetTexture1DLinearMaxWidth(&z, CU_AD_FORMAT_UNSIGNED_INT8, 1, dev));
  STEP("width byte x1", z);
  CALL(cuDeviceGetExecAffinitySupport(&v, CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev));
  STEP("SM affinity", v);
  CALL(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                  CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  CALL(cuDeviceGetNvSciSyncAttributes(nullptr, dev, 1));
  notifications();
  for (int i = 0; i < 4; i++) {
    step("graph memory attribute " + std::to_string(i), [&] {
      cuuint64_t u = 77;
      const CUresult result = cuDeviceGetGraphMemAttribute(dev, static_cast<CUgraphMem_attribute>(i), &u);
      return name_of(result) + " " + std::to_string(u);
    });
  }
}

void before_init() {
  int v;
  char b[64];
  CUdevice d;
  CUuuid u;
  std::size_t z;
  unsigned f;
  CUcontext c;
  CUmemoryPool p;
  void* fnp;
  CUdriverProcAddressQueryResult q;
  const char* s;
  CUgraph g;
  CUmoduleLoadingMode lm;
  CALL(cuDeviceGet(&d, 0));
  CALL(cuDeviceGetName(b, 64, 0));
  CALL(cuDeviceGetUuid(&u, 0));
  CALL(cuDeviceTotalMem(&z, 0));
  CALL(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  CALL(cuDeviceGetByPCIBusId(&d, "0000:00:00.0"));
  CALL(cuDeviceCanAccessPeer(&v, 0, 0));
  CALL(cuDevicePrimaryCtxRetain(&c, 0));
  CALL(cuDevicePrimaryCtxGetState(0, &f, &v));
  CALL(cuDevicePrimaryCtxSetFlags(0, 0));
  CALL(cuDeviceGetDefaultMemPool(&p, 0));
  CALL(cuGetProcAddress("cuInit", &fnp, 13000, 0, &q));
  CALL(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &s));
  CALL(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &s));
  CALL(cuGraphCreate(&g, 0));
  CALL(cuModuleGetLoadingMode(&lm));
  CALL(cuCtxPopCurrent(&c));
  CALL(cuCtxPushCurrent(nullptr));
  CALL(cuCtxSynchronize());
  CALL(cuStreamSynchronize(nullptr));
  CALL(cuStreamQuery(CU_STREAM_PER_THREAD));
  CALL(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
  CALL(cuProfilerStop());
  CALL(cuDriverGetVersion(nullptr));
  CALL(cuInit(0xFFFF));
  CALL(cuCtxSynchronize());
  CALL(cuInit(0));
  CALL(cuInit(0));
  CALL(cuInit(1));
}

}  // namespace

void add_devices(CaseList& list) {
  list.independent("h200_attributes", attributes);
  list.independent("device_peers", peers);
  list.independent("device_queries", queries);
  list.independent("device_before_init", before_init);
}

}  // namespace probe

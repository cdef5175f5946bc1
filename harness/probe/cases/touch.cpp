// SPDX-License-Identifier: Apache-2.0
// Switches to a context and makes ordinary calls.
#include "cases/touch.h"

#include "cases/fixtures.h"

namespace probe {

void touch(CUcontext c) {
  CUcontext x;
  CUdevice d;
  unsigned v;
  CALL(cuCtxGetCurrent(&x));
  CALL(cuCtxSetCurrent(c));
  CALL(cuCtxSetCurrent(nullptr));
  CALL(cuCtxSetCurrent(c));
  CALL(cuCtxPushCurrent(c));
  CALL(cuCtxPopCurrent(&x));
  CALL(cuCtxGetDevice(&d));
  CALL(cuCtxGetApiVersion(c, &v));
  CALL(cuCtxSynchronize());
  CUdeviceptr p;
  CUstream s;
  CUevent e;
  std::size_t f;
  std::size_t t;
  unsigned long long id;
  CUgraph g;
  int n;
  unsigned fl;
  int act;
  CALL(cuMemAlloc(&p, 256));
  CALL(cuStreamCreate(&s, 0));
  CALL(cuEventCreate(&e, 0));
  CALL(cuMemGetInfo(&f, &t));
  CALL(cuCtxGetId(c, &id));
  CALL(cuGraphCreate(&g, 0));
  CALL(cuDeviceGetCount(&n));
  CALL(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev));
  CALL(cuDevicePrimaryCtxGetState(dev, &fl, &act));
  CALL(cuDriverGetVersion(&n));
}

}  // namespace probe

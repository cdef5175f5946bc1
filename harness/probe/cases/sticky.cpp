// SPDX-License-Identifier: Apache-2.0
// What calls answer once a kernel has faulted: on the same context, on others, on another device.
#include "cases/cases.h"
#include "cases/fixtures.h"
#include "cases/objects.h"
#include "cases/touch.h"

namespace probe {
namespace {

void launched(CUfunction f, CUstream s = nullptr, void** a = nullptr) {
  CALL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, a, nullptr));
}

void sticky(const char* kernel) {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  CUdeviceptr p = r.dp;
  void* a[] = {&p};
  launched(fn(kernel), nullptr, a);
  CALL(cuCtxSynchronize());
  CALL(cuCtxSynchronize());
  touch(prim);
  CALL(cuStreamQuery(r.st));
  CALL(cuEventQuery(r.ev));
  CALL(cuEventRecord(r.ev, r.st));
  int v;
  CALL(cuMemcpyDtoH(&v, r.dp, 4));
  CALL(cuGraphLaunch(r.ge, r.st));
  launched(fn("ok"));
  destroy_all(r);
  CALL(cuModuleUnload(mod));
  CUcontext c2;
  CUcontext c3;
  CALL(cuDevicePrimaryCtxReset(dev));
  CALL(cuDevicePrimaryCtxRetain(&c2, dev));
  CALL(cuDevicePrimaryCtxRelease(dev));
  CALL(cuCtxCreate(&c3, nullptr, 0, dev));
}

void first_seen_by_stream_destroy() {
  boot(faulting_program);
  CUstream s = stream(0);
  launched(fn("oob"), s);
  pause(3 * a_while);
  CALL(cuStreamDestroy(s));
  CALL(cuCtxSynchronize());
}

void first_seen_after_switches() {
  boot(faulting_program);
  launched(fn("oob"));
  pause(3 * a_while);
  CUcontext x;
  CUevent e;
  CALL(cuCtxSetCurrent(prim));
  CALL(cuCtxGetCurrent(&x));
  CALL(cuCtxPushCurrent(prim));
  CALL(cuCtxPopCurrent(&x));
  CALL(cuEventCreate(&e, 0));
}

void first_seen_by_mem_free() {
  boot(faulting_program);
  CUdeviceptr p = mem(4);
  launched(fn("oob"));
  CALL(cuMemFree(p));
}

// The primary contexts of two devices, the first device's with the program loaded and current.
struct TwoDevices {
  CUcontext c0 = nullptr;
  CUcontext c1 = nullptr;
  CUfunction f = nullptr;

  TwoDevices() {
    boot(faulting_program);
    c0 = prim;
    SETUP(cuDevicePrimaryCtxRetain(&c1, 1));
    f = fn("oob");
  }
};

void fault_seen_on_other_device() {
  const TwoDevices both;
  const CUcontext c0 = both.c0;
  const CUcontext c1 = both.c1;
  const CUfunction f = both.f;
  CUdeviceptr p1 = 0;
  CUdeviceptr p;
  CUstream s = nullptr;
  CUcontext x;
  CUevent e;
  SETUP(cuCtxSetCurrent(c1));
  CALL(cuMemAlloc(&p1, 64));
  CALL(cuStreamCreate(&s, 0));
  SETUP(cuCtxSetCurrent(c0));
  CALL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
  CALL(cuCtxSynchronize());
  CALL(cuCtxSetCurrent(c1));
  CALL(cuCtxGetCurrent(&x));
  CALL(cuCtxSynchronize());
  CALL(cuMemAlloc(&p, 64));
  CALL(cuEventCreate(&e, 0));
  CALL(cuMemFree(p1));
  CALL(cuStreamQuery(s));
  CALL(cuStreamDestroy(s));
  CALL(cuCtxPushCurrent(c0));
  CALL(cuCtxPopCurrent(&x));
  CALL(cuDevicePrimaryCtxReset(1));
  CALL(cuDevicePrimaryCtxRetain(&x, 1));
  CALL(cuCtxCreate(&x, nullptr, 0, 1));
}

void fault_stays_after_reset() {
  const TwoDevices both;
  const CUcontext c1 = both.c1;
  const CUfunction f = both.f;
  CUdeviceptr p;
  CALL(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
  CALL(cuCtxSynchronize());
  CALL(cuDevicePrimaryCtxReset(0));
  CALL(cuCtxSetCurrent(c1));
  CALL(cuMemAlloc(&p, 64));
}

}  // namespace

void add_sticky(CaseList& list) {
  list.chained("sticky_illegal_address", [] { sticky("oob"); });
  list.chained("sticky_misaligned", [] { sticky("mis"); });
  list.chained("sticky_trap", [] { sticky("trp"); });
  list.chained("sticky_async_who_sees_first_streamdestroy", first_seen_by_stream_destroy);
  list.chained("sticky_async_who_sees_first_setcurrent", first_seen_after_switches);
  list.chained("sticky_async_who_sees_first_memfree", first_seen_by_mem_free);
  list.on_two_devices("two_gpu_sticky", fault_seen_on_other_device);
  list.on_two_devices("two_gpu_sticky_reset_faulted_only", fault_stays_after_reset);
}

}  // namespace probe

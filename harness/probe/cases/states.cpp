// SPDX-License-Identifier: Apache-2.0
// The driver before its initialisation, with no context, after a fork, while it shuts down; and ordinary calls beside them.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cases/cases.h"
#include "cases/fixtures.h"
#include "cases/objects.h"

namespace probe {
namespace {

void version() {
  boot(faulting_program);
  int v = 0;
  char b[99] = {};
  CALL(cuDriverGetVersion(&v));
  STEP("driver", v);
  CALL(cuDeviceGetName(b, 99, dev));
  STEP("name", b);
}

void before_init() {
  CUcontext x;
  int n;
  CUdeviceptr p;
  CALL(cuCtxGetCurrent(&x));
  CALL(cuCtxSetCurrent(nullptr));
  CALL(cuDeviceGetCount(&n));
  CALL(cuMemAlloc(&p, 4));
  CALL(cuStreamDestroy(nullptr));
  CALL(cuEventDestroy(nullptr));
  CALL(cuMemFree(0));
  CALL(cuDriverGetVersion(&n));
}

void no_current() {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  SETUP(cuCtxSetCurrent(nullptr));
  auto x = reinterpret_cast<CUcontext>(1);
  CUdevice d;
  CUdeviceptr p;
  CALL(cuCtxGetCurrent(&x));
  STEP("current==null", x == nullptr);
  CALL(cuCtxGetDevice(&d));
  CALL(cuMemAlloc(&p, 4));
  CALL(cuCtxSynchronize());
  CALL(cuCtxPopCurrent(&x));
  destroy_all(r);
}

void normal_destroy() {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  destroy_all(r);
}

void null_handles() {
  boot(faulting_program);
  CALL(cuStreamDestroy(nullptr));
  CALL(cuEventDestroy(nullptr));
  CALL(cuMemFree(0));
  CALL(cuMemFreeHost(nullptr));
  CALL(cuMemFreeAsync(0, nullptr));
  CALL(cuMemPoolDestroy(nullptr));
  CALL(cuGraphDestroy(nullptr));
  CALL(cuGraphExecDestroy(nullptr));
  CALL(cuGraphDestroyNode(nullptr));
  CALL(cuArrayDestroy(nullptr));
  CALL(cuMipmappedArrayDestroy(nullptr));
  CALL(cuTexObjectDestroy(0));
  CALL(cuSurfObjectDestroy(0));
  CALL(cuLinkDestroy(nullptr));
  CALL(cuModuleUnload(nullptr));
  CALL(cuLibraryUnload(nullptr));
  CALL(cuUserObjectRelease(nullptr, 1));
  CALL(cuGreenCtxDestroy(nullptr));
  CALL(cuCtxDestroy(nullptr));
  CALL(cuMemUnmap(0, 0));
  CALL(cuMemRelease(0));
  CALL(cuDevicePrimaryCtxRelease(99));
  CALL(cuGraphicsUnregisterResource(nullptr));
  CALL(cuDestroyExternalMemory(nullptr));
  CALL(cuDestroyExternalSemaphore(nullptr));
}

void release_unretained() {
  SETUP(cuInit(0));
  CALL(cuDevicePrimaryCtxRelease(0));
  CALL(cuDevicePrimaryCtxReset(0));
}

void pop_empty() {
  SETUP(cuInit(0));
  CUcontext x;
  CALL(cuCtxPopCurrent(&x));
}

void bad_device() {
  boot(faulting_program);
  CUdevice d;
  CUcontext c;
  CALL(cuDeviceGet(&d, 99));
  CALL(cuDevicePrimaryCtxRetain(&c, 99));
}

void out_of_memory() {
  boot(faulting_program);
  CUdeviceptr p;
  CALL(cuMemAlloc(&p, 1ull << 45));
  CALL(cuMemAlloc(&p, 0));
  CALL(cuCtxSynchronize());
}

// Exit handlers run in the reverse order of their registration: one that is registered before the driver is initialised
// runs after the driver's own.
void calls_after_teardown() {
  static const CUdevice d0 = 0;
  std::atexit([] {
    CUcontext x;
    CUdeviceptr p;
    CUevent e;
    int n;
    CALL(cuCtxGetCurrent(&x));
    CALL(cuCtxSetCurrent(nullptr));
    CALL(cuCtxSetCurrent(prim));
    CALL(cuDeviceGetCount(&n));
    CALL(cuMemAlloc(&p, 4));
    CALL(cuEventCreate(&e, 0));
    CALL(cuCtxSynchronize());
    CALL(cuDevicePrimaryCtxRelease(d0));
  });
  boot(faulting_program);
  std::exit(0);
}

void destroys_after_teardown() {
  static Objects r;
  std::atexit([] { destroy_all(r); });
  boot(faulting_program);
  make(r, Green::with);
  std::exit(0);
}

void fork_child() {
  boot(faulting_program);
  const pid_t child = fork();
  if (child == 0) {
    CUcontext x;
    CUdeviceptr q;
    int n;
    CALL(cuInit(0));
    CALL(cuDeviceGetCount(&n));
    CALL(cuCtxGetCurrent(&x));
    CALL(cuCtxSetCurrent(prim));
    CALL(cuCtxSynchronize());
    CALL(cuMemAlloc(&q, 4));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  STEP("child status", status);
}

void host_function_calls_driver() {
  boot(faulting_program);
  CUstream s = stream(0);
  const CUhostFn calls = [](void*) {
    CUcontext x;
    CUdeviceptr p;
    CUstream q;
    CALL(cuCtxGetCurrent(&x));
    CALL(cuMemAlloc(&p, 4));
    CALL(cuStreamCreate(&q, 0));
  };
  SETUP(cuLaunchHostFunc(s, calls, nullptr));
  CALL(cuStreamSynchronize(s));
}

void graphs_without_context() {
  SETUP(cuInit(0));
  CUgraph g = nullptr;
  CUgraphNode n;
  CUgraphExec e;
  CALL(cuGraphCreate(&g, 0));
  CALL(cuGraphAddEmptyNode(&n, g, nullptr, 0));
  CALL(cuGraphInstantiate(&e, g, 0));
  CALL(cuGraphDestroy(g));
}

void default_streams() {
  boot(faulting_program);
  CUcontext c = nullptr;
  CALL(cuStreamSynchronize(CU_STREAM_LEGACY));
  CALL(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  CALL(cuStreamDestroy(CU_STREAM_LEGACY));
  CALL(cuStreamDestroy(CU_STREAM_PER_THREAD));
  CALL(cuStreamGetCtx(nullptr, &c));
  STEP("prim", c == prim);
}

}  // namespace

void add_states(CaseList& list) {
  list.chained("version", version);
  list.chained("before_init", before_init);
  list.chained("no_current", no_current);
  list.chained("normal_destroy", normal_destroy);
  list.chained("null_handles", null_handles);
  list.chained("release_unretained", release_unretained);
  list.chained("pop_empty", pop_empty);
  list.chained("peer_or_bad_device", bad_device);
  list.chained("oom", out_of_memory);
  list.chained("after_driver_teardown_atexit", calls_after_teardown);
  list.chained("after_driver_teardown_destroyers", destroys_after_teardown);
  list.chained("fork_child_of_initialised_parent", fork_child);
  list.chained("host_callback_calls_cuda", host_function_calls_driver);
  list.chained("graph_api_no_context", graphs_without_context);
  list.chained("stream_default_flags", default_streams);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Contexts: stacks, limits, flags, attach and detach, events across contexts, busy ones, other threads, peers.
#include <thread>

#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

void deep_stack() {
  boot();
  CUcontext a = ctx2();
  CUcontext x;
  int n = 0;
  while (n < 5000 && cuCtxPushCurrent(n % 2 != 0 ? a : prim) == CUDA_SUCCESS) n++;
  STEP("pushes", n);
  for (int i = 0; i < n; i++) cuCtxPopCurrent(&x);
  STEP("current", who(a));
}

void destroyed_while_pushed_twice() {
  boot();
  CUcontext a = ctx2();
  CUcontext x;
  CUdeviceptr p;
  CALL(cuCtxPushCurrent(a));
  CALL(cuCtxDestroy(a));
  STEP("current", who(a));
  CALL(cuMemAlloc(&p, 64));
  CALL(cuCtxPopCurrent(&x));
  STEP("current", who(a));
}

void get_limit(const char* what, int limit) {
  step(what, [&] {
    std::size_t v = 77;
    const CUresult result = cuCtxGetLimit(&v, static_cast<CUlimit>(limit));
    return name_of(result) + " " + std::to_string(v);
  });
}

void set_limit(const char* what, CUlimit limit, std::size_t to) {
  step(what, [&] {
    std::size_t v = 77;
    const CUresult result = cuCtxSetLimit(limit, to);
    const CUresult read = cuCtxGetLimit(&v, limit);
    return name_of(result) + " then=" + (read == CUDA_SUCCESS ? std::to_string(v) : name_of(read));
  });
}

void limits() {
  boot();
  get_limit("stack", CU_LIMIT_STACK_SIZE);
  get_limit("printf", CU_LIMIT_PRINTF_FIFO_SIZE);
  get_limit("heap", CU_LIMIT_MALLOC_HEAP_SIZE);
  get_limit("sync depth", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH);
  get_limit("pending launches", CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
  get_limit("L2 fetch", CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
  get_limit("persisting L2", CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
  get_limit("shmem size", CU_LIMIT_SHMEM_SIZE);
  get_limit("CIG", CU_LIMIT_CIG_ENABLED);
  get_limit("CIG fallback", CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED);
  get_limit("10", 10);
  set_limit("stack 2048", CU_LIMIT_STACK_SIZE, 2048);
  set_limit("stack 1000", CU_LIMIT_STACK_SIZE, 1000);
  set_limit("stack 1", CU_LIMIT_STACK_SIZE, 1);
  set_limit("stack 0", CU_LIMIT_STACK_SIZE, 0);
  set_limit("stack 16 KiB", CU_LIMIT_STACK_SIZE, 16 << 10);
  set_limit("stack 1 GiB", CU_LIMIT_STACK_SIZE, 1 << 30);
  set_limit("printf 1 MiB", CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20);
  set_limit("printf 1", CU_LIMIT_PRINTF_FIFO_SIZE, 1);
  set_limit("printf 0", CU_LIMIT_PRINTF_FIFO_SIZE, 0);
  set_limit("heap 16 MiB", CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20);
  set_limit("heap 1", CU_LIMIT_MALLOC_HEAP_SIZE, 1);
  set_limit("sync depth 3", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3);
  set_limit("pending launches 4096", CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096);
  set_limit("pending launches 0", CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 0);
  set_limit("L2 fetch 32", CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 32);
  set_limit("L2 fetch 33", CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 33);
  set_limit("L2 fetch 64", CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64);
  set_limit("L2 fetch 129", CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129);
  set_limit("L2 fetch 0", CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 0);
  set_limit("persisting 1 MiB", CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 20);
  set_limit("persisting 1 GiB", CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 30);
  set_limit("persisting 0", CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  set_limit("shmem 1", CU_LIMIT_SHMEM_SIZE, 1);
  set_limit("CIG 1", CU_LIMIT_CIG_ENABLED, 1);
}

void limits_after_launch() {
  boot();
  SETUP(launch(fn("ok")));
  SETUP(cuCtxSynchronize());
  std::size_t v = 0;
  CALL(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20));
  CALL(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20));
  CALL(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  CALL(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
  STEP("stack", v);
  ctx2();
  CALL(cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE));
  STEP("stack of a new context", v);
}

void flags() {
  unsigned f = 77;
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  CALL(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  CALL(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC + CU_CTX_LMEM_RESIZE_TO_MAX));
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  CALL(cuCtxSetFlags(CU_CTX_SYNC_MEMOPS));
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  CALL(cuCtxSetFlags(3));
  CALL(cuCtxSetFlags(0x100));
  CALL(cuCtxSetFlags(0));
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  STEP("primary state", primary_state());
}

void flags_and_config() {
  boot();
  flags();
  auto c = static_cast<CUfunc_cache>(77);
  CALL(cuCtxGetCacheConfig(&c));
  STEP("cache config", c);
  CALL(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  CALL(cuCtxGetCacheConfig(&c));
  STEP("cache config", c);
  unsigned v = 77;
  CALL(cuCtxGetApiVersion(prim, &v));
  STEP("API version", v);
  CUcontext a = ctx2();
  CALL(cuCtxGetApiVersion(a, &v));
  STEP("API version of a created context", v);
  int lo = 77;
  int hi = 77;
  CALL(cuCtxGetStreamPriorityRange(&lo, &hi));
  STEP("least", lo);
  STEP("greatest", hi);
  CUexecAffinityParam ap{};
  CALL(cuCtxGetExecAffinity(&ap, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  STEP("SM count", ap.param.smCount.val);
  unsigned long long i = 0;
  unsigned long long j = 0;
  CALL(cuCtxGetId(prim, &i));
  CALL(cuCtxGetId(a, &j));
  STEP("ids differ", i != j);
  CALL(cuCtxGetId(nullptr, &i));
  STEP("null means current", i == j);
  CUdevice d = 77;
  CALL(cuCtxGetDevice_v2(&d, prim));
  STEP("device", d);
  CALL(cuCtxGetDevice_v2(&d, nullptr));
  STEP("device of null", d);
  CUdevResource r{};
  CALL(cuCtxGetDevResource(a, &r, CU_DEV_RESOURCE_TYPE_SM));
  STEP("SMs of the context", r.sm.smCount);
}

void attach_and_detach() {
  boot();
  CUcontext c = nullptr;
  CUcontext a = nullptr;
  CALL(cuCtxAttach(&c, 0));
  STEP("the current context", c == prim);
  CALL(cuCtxAttach(nullptr, 0));
  CALL(cuCtxAttach(&c, 1));
  CALL(cuCtxDetach(prim));
  STEP("current", who(prim));
  SETUP(cuCtxCreate(&a, nullptr, 0, dev));
  CALL(cuCtxAttach(&c, 0));
  STEP("the created context", c == a);
  CALL(cuCtxDetach(a));
  STEP("current", who(a));
  CALL(cuCtxDetach(a));
  STEP("current", who(a));
  CALL(cuCtxDetach(nullptr));
}

void synchronize_others() {
  boot();
  static Gate gate;
  CUcontext a = ctx2();
  CALL(cuCtxSynchronize_v2(prim));
  CALL(cuCtxSynchronize_v2(a));
  CALL(cuCtxSynchronize_v2(nullptr));
  SETUP(cuCtxSetCurrent(prim));
  CUstream s = stream();
  shut(gate, s);
  SETUP(cuCtxSetCurrent(a));
  STEP("the busy context is another", cuCtxSynchronize());
  CALL(cuCtxSynchronize_v2(a));
  gate.open = 1;
  CALL(cuCtxSynchronize_v2(prim));
  SETUP(cuCtxSetCurrent(nullptr));
  CALL(cuCtxSynchronize_v2(prim));
  CALL(cuCtxSynchronize_v2(nullptr));
}

void record_and_wait() {
  boot();
  static Gate gate;
  CUstream s = stream();
  CUevent e = event();
  CUevent f = event();
  CALL(cuCtxRecordEvent(prim, e));
  CALL(cuEventSynchronize(e));
  shut(gate, s);
  CALL(cuCtxRecordEvent(prim, e));
  CALL(cuEventQuery(e));
  CUstream t = stream();
  CALL(cuCtxWaitEvent(prim, e));
  SETUP(cuEventRecord(f, t));
  CALL(cuEventQuery(f));
  gate.open = 1;
  CALL(cuEventSynchronize(f));
  CALL(cuEventQuery(e));
  CUcontext a = ctx2();
  CALL(cuCtxRecordEvent(a, e));
  CALL(cuCtxWaitEvent(a, e));
  CUevent g = event();
  CALL(cuCtxRecordEvent(a, g));
  CALL(cuCtxWaitEvent(prim, g));
  CALL(cuCtxSynchronize());
  CUstream c = stream();
  SETUP(cuStreamBeginCapture(c, CU_STREAM_CAPTURE_MODE_RELAXED));
  CALL(cuCtxRecordEvent(a, g));
  CALL(cuCtxWaitEvent(a, g));
  STEP("status", cap_status(c));
  STEP("end", end_of(c));
}

void primary_flags() {
  SETUP(cuInit(0));
  SETUP(cuDeviceGet(&dev, 0));
  CALL(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_MAP_HOST));
  STEP("map host", primary_state());
  CALL(cuDevicePrimaryCtxSetFlags(dev, CU_CTX_LMEM_RESIZE_TO_MAX + CU_CTX_SCHED_BLOCKING_SYNC));
  STEP("resize and blocking", primary_state());
  CUcontext c = nullptr;
  SETUP(cuDevicePrimaryCtxRetain(&c, dev));
  STEP("active", primary_state());
  CALL(cuDevicePrimaryCtxReset(dev));
  STEP("after reset", primary_state());
}

void reset_while_used_elsewhere() {
  boot();
  std::atomic<int> step{0};
  std::thread other([&] {
    SETUP(cuCtxSetCurrent(prim));
    [[maybe_unused]] CUstream s = stream();
    step = 1;
    while (step < 2) pause(std::chrono::milliseconds{1});
    CUdeviceptr p;
    CUcontext c = nullptr;
    CALL(cuMemAlloc(&p, 64));
    CALL(cuCtxSynchronize());
    STEP("current there", who(prim));
    CALL(cuDevicePrimaryCtxRetain(&c, dev));
    STEP("same handle", c == prim);
    CALL(cuMemAlloc(&p, 64));
  });
  while (step < 1) pause(std::chrono::milliseconds{1});
  CALL(cuDevicePrimaryCtxReset(dev));
  step = 2;
  other.join();
  CUdeviceptr p;
  STEP("here, after the other thread retained", cuMemAlloc(&p, 64));
}

void reset_while_busy() {
  boot();
  static Gate gate;
  shut(gate, stream());
  open_later(gate);
  CALL(cuDevicePrimaryCtxReset(dev));
  STEP("the reset waited", gate.open.load());
}

void destroyed_while_busy() {
  boot();
  static Gate gate;
  CUcontext a = ctx2();
  shut(gate, stream());
  open_later(gate);
  CALL(cuCtxDestroy(a));
  STEP("the destruction waited", gate.open.load());
}

void peers() {
  boot();
  CUcontext a = ctx2();
  CALL(cuCtxEnablePeerAccess(prim, 0));
  CALL(cuCtxEnablePeerAccess(a, 0));
  CALL(cuCtxEnablePeerAccess(prim, 1));
  CALL(cuCtxDisablePeerAccess(prim));
  CUdeviceptr p = mem();
  SETUP(cuCtxSetCurrent(prim));
  CUdeviceptr q = mem();
  CALL(cuMemcpyPeer(p, a, q, prim, 64));
  CALL(cuMemcpyPeer(p, prim, q, a, 64));
  CALL(cuMemcpyDtoD(p, q, 64));
  CALL(cuMemcpyPeerAsync(p, a, q, prim, 64, nullptr));
  CALL(cuCtxSynchronize());
}

}  // namespace

void add_contexts(CaseList& list) {
  list.chained("context_stack_deep", deep_stack);
  list.chained("context_destroy_pushed_twice", destroyed_while_pushed_twice);
  list.independent("context_limits", limits);
  list.chained("context_limit_after_launch", limits_after_launch);
  list.independent("context_flags_and_config", flags_and_config);
  list.chained("context_attach_detach", attach_and_detach);
  list.chained("context_synchronize_others", synchronize_others);
  list.chained("context_record_wait_event", record_and_wait);
  list.chained("primary_set_flags_after_map_host", primary_flags);
  list.chained("primary_reset_while_other_thread_uses", reset_while_used_elsewhere);
  list.chained("primary_reset_while_busy", reset_while_busy);
  list.chained("context_destroy_while_busy", destroyed_while_busy);
  list.chained("context_peer", peers);
}

}  // namespace probe

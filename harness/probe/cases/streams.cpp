// SPDX-License-Identifier: Apache-2.0
// Streams: priorities, the special handles, what a stream says about itself, busy ones, memory operations.
#include <cstdlib>
#include <thread>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void priorities() {
  boot();
  int lo = 77;
  int hi = 77;
  int g = 77;
  CALL(cuCtxGetStreamPriorityRange(&lo, &hi));
  STEP("least", lo);
  STEP("greatest", hi);
  for (const int p : {0, -1, -5, -6, -100, 1, 100}) {
    CUstream s = nullptr;
    int got = 77;
    STEP("create at " + std::to_string(p), cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, p));
    STEP("get", cuStreamGetPriority(s, &got));
    STEP("priority", got);
  }
  CALL(cuStreamGetPriority(nullptr, &g));
  STEP("legacy priority", g);
  CALL(cuStreamGetPriority(CU_STREAM_PER_THREAD, &g));
  STEP("per-thread priority", g);
}

struct Special {
  std::string name;
  CUstream handle;
};

// Everything a stream says about itself, and work on it. Answers the stream's id.
unsigned long long describe(const Special& special, CUevent e) {
  const std::string n = special.name + " ";
  CUstream s = special.handle;
  unsigned f = 77;
  CUcontext c = nullptr;
  const auto untouched = reinterpret_cast<CUgreenCtx>(1);
  CUgreenCtx gc = untouched;
  CUdevice d = 77;
  int p = 77;
  unsigned long long id = 0;
  auto st = static_cast<CUstreamCaptureStatus>(77);
  CUstreamAttrValue v{};
  STEP(n + "synchronize", cuStreamSynchronize(s));
  STEP(n + "query", cuStreamQuery(s));
  STEP(n + "flags", cuStreamGetFlags(s, &f));
  STEP(n + "flags value", f);
  STEP(n + "context", cuStreamGetCtx(s, &c));
  STEP(n + "context is the current one", c == prim);
  c = nullptr;
  STEP(n + "context v2", cuStreamGetCtx_v2(s, &c, &gc));
  STEP(n + "context v2 is the current one", c == prim);
  STEP(n + "green context", gc == untouched ? 1 : gc != nullptr ? 2 : 0);
  STEP(n + "green context query", cuStreamGetGreenCtx(s, &gc));
  STEP(n + "green context null", gc == nullptr);
  STEP(n + "device", cuStreamGetDevice(s, &d));
  STEP(n + "device value", d);
  STEP(n + "priority", cuStreamGetPriority(s, &p));
  STEP(n + "priority value", p);
  STEP(n + "id", cuStreamGetId(s, &id));
  STEP(n + "capturing", cuStreamIsCapturing(s, &st));
  STEP(n + "capture status", st);
  STEP(n + "record", cuEventRecord(e, s));
  STEP(n + "wait", cuStreamWaitEvent(s, e, 0));
  STEP(n + "host function", cuLaunchHostFunc(s, nothing, nullptr));
  STEP(n + "attribute", cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
  STEP(n + "attach", cuStreamAttachMemAsync(s, mem(), 0, CU_MEM_ATTACH_GLOBAL));
  return id;
}

void special_handles() {
  boot();
  CUevent e = event();
  const unsigned long long null_id = describe({"null", nullptr}, e);
  const unsigned long long legacy_id = describe({"legacy", CU_STREAM_LEGACY}, e);
  const unsigned long long thread_id = describe({"per-thread", CU_STREAM_PER_THREAD}, e);
  STEP("null and legacy have one id", null_id == legacy_id);
  STEP("per-thread has another id", thread_id != legacy_id);
  unsigned long long other = 0;
  unsigned long long again = 0;
  std::thread([&] {
    SETUP(cuCtxSetCurrent(prim));
    SETUP(cuStreamGetId(CU_STREAM_PER_THREAD, &other));
    SETUP(cuStreamGetId(nullptr, &again));
  }).join();
  STEP("another thread's per-thread id differs", other != thread_id);
  STEP("another thread's legacy id is the same", again == null_id);
  STEP("handle 3", cuStreamQuery((CUstream)3));
}

void special_handles_without_context() {
  boot();
  SETUP(cuCtxSetCurrent(nullptr));
  const Special handles[] = {{"null", nullptr}, {"legacy", CU_STREAM_LEGACY}, {"per-thread", CU_STREAM_PER_THREAD}};
  for (const Special& special : handles) {
    const std::string n = special.name + " ";
    CUstream s = special.handle;
    unsigned f;
    CUcontext c;
    unsigned long long id;
    CUdevice d;
    STEP(n + "query", cuStreamQuery(s));
    STEP(n + "flags", cuStreamGetFlags(s, &f));
    STEP(n + "context", cuStreamGetCtx(s, &c));
    STEP(n + "id", cuStreamGetId(s, &id));
    STEP(n + "device", cuStreamGetDevice(s, &d));
    STEP(n + "destroy", cuStreamDestroy(s));
  }
}

void flags_and_context() {
  boot();
  CUstream b = stream(0);
  CUstream n = stream();
  unsigned f = 77;
  CUcontext c = nullptr;
  auto g = reinterpret_cast<CUgreenCtx>(1);
  CUdevice d = 77;
  CALL(cuStreamGetFlags(b, &f));
  STEP("blocking", f);
  CALL(cuStreamGetFlags(n, &f));
  STEP("non-blocking", f);
  ctx2();
  CALL(cuStreamGetCtx(n, &c));
  STEP("creator's context", c == prim);
  CALL(cuStreamGetCtx_v2(n, &c, &g));
  STEP("context", c == prim);
  STEP("green context null", g == nullptr);
  CALL(cuStreamGetCtx_v2(n, &c, nullptr));
  CALL(cuStreamGetDevice(n, &d));
  STEP("device", d);
  CALL(cuStreamGetGreenCtx(n, &g));
  STEP("green context null", g == nullptr);
  CALL(cuStreamGetGreenCtx(n, nullptr));
  unsigned long long a = 0;
  unsigned long long z = 0;
  CALL(cuStreamGetId(b, &a));
  CALL(cuStreamGetId(n, &z));
  STEP("ids differ", a != z);
}

void destroyed_while_pending() {
  boot();
  static Gate gate;
  static std::atomic<int> n;
  CUstream s = stream();
  CUevent e = event();
  shut(gate, s);
  SETUP(cuLaunchHostFunc(s, count_up, &n));
  SETUP(cuEventRecord(e, s));
  CALL(cuStreamQuery(s));
  CALL(cuStreamDestroy(s));
  CALL(cuEventQuery(e));
  gate.open = 1;
  CALL(cuEventSynchronize(e));
  STEP("ran", n.load());
}

void others_while_busy() {
  boot();
  static Gate gate;
  CUstream s = stream();
  shut(gate, s);
  CUstream t = nullptr;
  CUevent e = nullptr;
  CUdeviceptr p = 0;
  CALL(cuStreamCreate(&t, 0));
  CALL(cuEventCreate(&e, 0));
  CALL(cuStreamDestroy(t));
  CALL(cuEventDestroy(e));
  CALL(cuMemAlloc(&p, 64));
  CALL(cuStreamQuery(s));
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
  CALL(cuMemFree(p));
}

void memory_operations() {
  boot();
  CUstream s = stream();
  CUstream t = stream();
  unsigned* h = nullptr;
  SETUP(cuMemHostAlloc((void**)&h, 64, 0));
  h[0] = h[1] = 0;
  const volatile unsigned* seen = h;
  CUdeviceptr d = (CUdeviceptr)h;
  CALL(cuStreamWriteValue32(s, d, 5, CU_STREAM_WRITE_VALUE_DEFAULT));
  CALL(cuStreamSynchronize(s));
  STEP("written", seen[0]);
  CALL(cuStreamWaitValue32(s, d, 5, CU_STREAM_WAIT_VALUE_EQ));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamWaitValue32(s, d + 4, 3, CU_STREAM_WAIT_VALUE_GEQ));
  CALL(cuStreamQuery(s));
  CALL(cuStreamWriteValue32(t, d + 4, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  CALL(cuStreamWriteValue32(t, d + 4, 4, CU_STREAM_WRITE_VALUE_DEFAULT));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamWaitValue32(s, d + 8, 0, CU_STREAM_WAIT_VALUE_NOR));
  CALL(cuStreamWaitValue32(s, d, 4, CU_STREAM_WAIT_VALUE_AND));
  CALL(cuStreamWriteValue64(s, d + 16, 7, 0));
  CALL(cuStreamWaitValue64(s, d + 16, 7, CU_STREAM_WAIT_VALUE_EQ));
  CALL(cuStreamWaitValue32(s, d, 5, CU_STREAM_WAIT_VALUE_EQ + CU_STREAM_WAIT_VALUE_FLUSH));
  CUstreamBatchMemOpParams b[2]{};
  b[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  b[0].writeValue.address = d + 24;
  b[0].writeValue.value = 9;
  b[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  b[1].waitValue.address = d + 24;
  b[1].waitValue.value = 9;
  CALL(cuStreamBatchMemOp(s, 2, b, 0));
  CALL(cuStreamSynchronize(s));
  STEP("batch wrote", seen[6]);
  void* heap = std::malloc(64);
  STEP("write to heap memory", cuStreamWriteValue32(s, (CUdeviceptr)heap, 1, 0));
}

}  // namespace

void add_streams(CaseList& list) {
  list.independent("stream_priority", priorities);
  list.independent("stream_special_handles", special_handles);
  list.independent("stream_special_handles_no_context", special_handles_without_context);
  list.independent("stream_flags_and_context", flags_and_context);
  list.chained("stream_destroy_pending", destroyed_while_pending);
  list.chained("stream_create_destroy_while_busy", others_while_busy);
  list.chained("stream_memory_operations", memory_operations);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Events: their states, pending ones, other contexts, destroyed ones.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void states() {
  boot();
  CUstream s = stream();
  CUevent n = event();
  CUevent m = event();
  CUevent a = event();
  CUevent b = event();
  CUevent d = event(CU_EVENT_DISABLE_TIMING);
  CUevent d2 = event(CU_EVENT_DISABLE_TIMING);
  float ms = -5;
  CALL(cuEventQuery(n));
  CALL(cuEventSynchronize(n));
  CALL(cuStreamWaitEvent(s, n, 0));
  CALL(cuEventElapsedTime(&ms, n, m));
  STEP("time untouched", ms == -5);
  CALL(cuEventElapsedTime(&ms, n, n));
  SETUP(cuEventRecord(a, s));
  CALL(cuEventElapsedTime(&ms, n, a));
  CALL(cuEventElapsedTime(&ms, a, n));
  SETUP(cuEventRecord(b, s));
  SETUP(cuEventRecord(d, s));
  SETUP(cuEventRecord(d2, s));
  SETUP(cuStreamSynchronize(s));
  CALL(cuEventElapsedTime(&ms, a, b));
  STEP("not negative", ms >= 0);
  CALL(cuEventElapsedTime(&ms, b, a));
  STEP("not positive", ms <= 0);
  CALL(cuEventElapsedTime(&ms, a, a));
  STEP("zero", ms == 0);
  CALL(cuEventElapsedTime(&ms, a, d));
  CALL(cuEventElapsedTime(&ms, d, a));
  CALL(cuEventElapsedTime(&ms, d, d2));
  CALL(cuEventElapsedTime(&ms, d, n));
  CALL(cuEventQuery(d));
  CUevent bl = nullptr;
  CUevent ip = nullptr;
  CALL(cuEventCreate(&bl, CU_EVENT_BLOCKING_SYNC));
  CALL(cuEventRecord(bl, s));
  CALL(cuEventSynchronize(bl));
  CALL(cuEventElapsedTime(&ms, a, bl));
  CALL(cuEventCreate(&ip, CU_EVENT_INTERPROCESS + CU_EVENT_DISABLE_TIMING));
  CALL(cuEventRecord(ip, s));
  CALL(cuEventSynchronize(ip));
  CALL(cuEventElapsedTime(&ms, a, ip));
  CALL(cuEventCreate(&ip, 7));
}

void pending() {
  boot();
  static Gate gate;
  CUstream s = stream();
  CUstream o = stream();
  CUevent a = event();
  CUevent b = event();
  CUevent c = event();
  float ms;
  SETUP(cuEventRecord(a, s));
  SETUP(cuStreamSynchronize(s));
  shut(gate, s);
  SETUP(cuEventRecord(b, s));
  CALL(cuEventQuery(b));
  CALL(cuEventElapsedTime(&ms, a, b));
  CALL(cuStreamQuery(s));
  CALL(cuStreamWaitEvent(o, b, 0));
  SETUP(cuEventRecord(c, o));
  CALL(cuStreamQuery(o));
  CALL(cuEventQuery(c));
  CALL(cuEventRecord(a, s));
  CALL(cuEventQuery(a));
  CALL(cuEventDestroy(b));
  CALL(cuEventDestroy(a));
  CALL(cuStreamQuery(o));
  gate.open = 1;
  CALL(cuStreamSynchronize(o));
  CALL(cuEventQuery(c));
  CALL(cuStreamSynchronize(s));
}

void other_contexts() {
  boot();
  CUstream s = stream();
  CUevent a = event();
  SETUP(cuEventRecord(a, s));
  SETUP(cuStreamSynchronize(s));
  ctx2();
  CUstream t = stream();
  CUevent b = event();
  float ms;
  CALL(cuEventRecord(b, s));
  CALL(cuEventRecord(a, t));
  CALL(cuEventRecord(a, nullptr));
  CALL(cuEventRecord(b, t));
  CALL(cuEventQuery(a));
  CALL(cuEventSynchronize(a));
  CALL(cuStreamWaitEvent(t, a, 0));
  CALL(cuStreamWaitEvent(s, b, 0));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamSynchronize(t));
  CALL(cuEventElapsedTime(&ms, a, b));
  SETUP(cuCtxSetCurrent(nullptr));
  CALL(cuEventRecord(a, s));
  CALL(cuEventRecord(a, nullptr));
  CALL(cuEventSynchronize(a));
  CALL(cuEventQuery(a));
  CALL(cuStreamWaitEvent(s, a, 0));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamQuery(s));
  CALL(cuEventDestroy(a));
  CALL(cuStreamDestroy(s));
}

void destroyed_while_pending() {
  boot();
  static Gate gate;
  CUstream s = stream();
  CUevent e = event();
  shut(gate, s);
  SETUP(cuEventRecord(e, s));
  SETUP(cuEventDestroy(e));
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
}

void destroyed(const std::string& then) {
  boot();
  CUstream s = stream();
  CUevent e = event();
  float ms;
  SETUP(cuEventRecord(e, s));
  SETUP(cuStreamSynchronize(s));
  SETUP(cuEventDestroy(e));
  if (then == "query") CALL(cuEventQuery(e));
  if (then == "record") CALL(cuEventRecord(e, s));
  if (then == "sync") CALL(cuEventSynchronize(e));
  if (then == "wait") CALL(cuStreamWaitEvent(s, e, 0));
  if (then == "elapsed") CALL(cuEventElapsedTime(&ms, e, e));
  CALL(cuCtxSynchronize());
}

}  // namespace

void add_events(CaseList& list) {
  list.independent("event_states", states);
  list.chained("event_pending", pending);
  list.independent("event_other_contexts", other_contexts);
  list.chained("callback_and_hostfunc_after_destroyed_event", destroyed_while_pending);
  for (const std::string then : {"query", "record", "sync", "wait", "elapsed"})
    list.chained("destroyed_event_" + then, [then] { destroyed(then); });
}

}  // namespace probe

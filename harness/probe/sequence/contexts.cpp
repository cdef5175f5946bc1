// SPDX-License-Identifier: Apache-2.0
// Steps of random sequences: contexts, streams, events.
#include "sequence/world.h"

namespace probe::sequence::steps {
namespace {

constexpr CUdevice device = 0;

std::string current_text(const World& w) { return " cur=" + std::to_string(w.current()); }
std::string on_success(CUresult result, const std::string& extra) { return result == CUDA_SUCCESS ? extra : ""; }

}  // namespace

void create_context(World& w) {
  if (w.contexts.size() >= 4) return;
  CUcontext c = nullptr;
  if (row("cuCtxCreate", cuCtxCreate(&c, nullptr, w.dice.chance(10) ? 0x77 : 0, device))) w.keep_context(c);
}

// The rows of setting and pushing show the context that was current before: so they are recorded.
void set_current(World& w) {
  const auto c = w.any_or_null(w.contexts, 10);
  const std::string before = current_text(w);
  row("cuCtxSetCurrent(" + name("c", c.id) + ")", cuCtxSetCurrent(c.handle), before);
}

void push_current(World& w) {
  const auto c = w.any_or_null(w.contexts, 8);
  const std::string before = current_text(w);
  row("cuCtxPushCurrent(" + name("c", c.id) + ")", cuCtxPushCurrent(c.handle), before);
}

void pop_current(World& w) {
  CUcontext c;
  const CUresult result = cuCtxPopCurrent(&c);
  row("cuCtxPopCurrent", result, current_text(w));
}

void current_device(World&) {
  CUdevice d;
  row("cuCtxGetDevice", cuCtxGetDevice(&d));
}

void synchronize_context(World&) { row("cuCtxSynchronize", cuCtxSynchronize()); }

void primary_state(World&) {
  unsigned flags = 0;
  int active = 0;
  const CUresult result = cuDevicePrimaryCtxGetState(device, &flags, &active);
  row("cuDevicePrimaryCtxGetState", result,
      " flags=" + std::to_string(flags) + " active=" + std::to_string(active));
}

void context_flags(World&) {
  unsigned flags = 99;
  const CUresult result = cuCtxGetFlags(&flags);
  row("cuCtxGetFlags", result, on_success(result, " " + std::to_string(flags)));
}

// Leaves the primary context current, alone on its stack.
void destroy_context(World& w) {
  if (w.contexts.size() <= 2 || !w.dice.chance(40)) return;
  const auto c = w.contexts[1 + w.dice.roll(static_cast<unsigned>(w.contexts.size()) - 1)];
  cuCtxSynchronize();
  if (!row("cuCtxDestroy(" + name("c", c.id) + ")", cuCtxDestroy(c.handle))) return;
  w.drop(w.contexts, c.id);
  w.drop_all_of(c.id);
  CUcontext primary = w.contexts[0].handle;
  cuCtxSetCurrent(primary);
  for (CUcontext popped = nullptr, next = primary; next != nullptr;) {
    if (cuCtxPopCurrent(&popped) != CUDA_SUCCESS || popped == nullptr) break;
    next = nullptr;
    cuCtxGetCurrent(&next);
  }
  row("after destroy: cuCtxSetCurrent(c1)", cuCtxSetCurrent(primary));
}

void create_stream(World& w) {
  CUstream s = nullptr;
  const unsigned flags = w.dice.chance(10) ? 7u : w.dice.roll(2);
  if (row("cuStreamCreate(" + std::to_string(flags) + ")", cuStreamCreate(&s, flags))) w.keep(w.streams, s);
}

void create_stream_with_priority(World& w) {
  CUstream s = nullptr;
  const int priority = static_cast<int>(w.dice.roll(12)) - 8;
  const std::string label = "cuStreamCreateWithPriority(" + std::to_string(priority) + ")";
  if (!row(label, cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, priority))) return;
  w.keep(w.streams, s);
  int got = 9;
  const CUresult result = cuStreamGetPriority(s, &got);
  row("cuStreamGetPriority", result, " " + std::to_string(got));
}

void destroy_stream(World& w) {
  const auto s = w.any_or_null(w.streams, 10);
  if (s.handle != nullptr) cuStreamSynchronize(s.handle);
  if (row("cuStreamDestroy(" + name("s", s.id) + ")", cuStreamDestroy(s.handle))) w.drop(w.streams, s.id);
}

void stream_flags(World& w) {
  const auto s = w.any_or_null(w.streams, 15);
  unsigned flags = 99;
  const CUresult result = cuStreamGetFlags(s.handle, &flags);
  row("cuStreamGetFlags(" + name("s", s.id) + ")", result, on_success(result, " " + std::to_string(flags)));
}

void stream_context(World& w) {
  const auto s = w.any_or_null(w.streams, 15);
  CUcontext c = nullptr;
  const CUresult result = cuStreamGetCtx(s.handle, &c);
  row("cuStreamGetCtx(" + name("s", s.id) + ")", result, on_success(result, " c" + std::to_string(w.id_of(c))));
}

void synchronize_stream(World& w) {
  const auto s = w.any_or_null(w.streams, 15);
  row("cuStreamSynchronize(" + name("s", s.id) + ")", cuStreamSynchronize(s.handle));
  row("cuStreamQuery", cuStreamQuery(s.handle));
}

void create_event(World& w) {
  static constexpr unsigned choices[] = {0, 1, 2, 3, 4, 6, 9};
  CUevent e = nullptr;
  const unsigned flags = choices[w.dice.roll(7)];
  if (row("cuEventCreate(" + std::to_string(flags) + ")", cuEventCreate(&e, flags))) w.keep(w.events, e);
}

void record_event(World& w) {
  const auto e = w.any_or_null(w.events, 8);
  const auto s = w.any_or_null(w.streams, 20);
  if (e.handle != nullptr && s.handle != nullptr) cuStreamSynchronize(s.handle);
  row("cuEventRecord(" + name("e", e.id) + "," + name("s", s.id) + ")", cuEventRecord(e.handle, s.handle));
}

void synchronize_event(World& w) {
  const auto e = w.any_or_null(w.events, 8);
  row("cuEventSynchronize(" + name("e", e.id) + ")", cuEventSynchronize(e.handle));
  row("cuEventQuery", cuEventQuery(e.handle));
}

void elapsed_time(World& w) {
  const auto from = w.any_or_null(w.events, 8);
  const auto to = w.any_or_null(w.events, 8);
  if (from.handle != nullptr) cuEventSynchronize(from.handle);
  if (to.handle != nullptr) cuEventSynchronize(to.handle);
  float ms;
  row("cuEventElapsedTime(" + name("e", from.id) + "," + name("e", to.id) + ")",
      cuEventElapsedTime(&ms, from.handle, to.handle));
}

void wait_event(World& w) {
  const auto e = w.any_or_null(w.events, 8);
  const auto s = w.any_or_null(w.streams, 20);
  const unsigned flags = w.dice.chance(10) ? 5 : 0;
  row("cuStreamWaitEvent(" + name("s", s.id) + "," + name("e", e.id) + ")",
      cuStreamWaitEvent(s.handle, e.handle, flags));
}

void destroy_event(World& w) {
  const auto e = w.any_or_null(w.events, 8);
  if (row("cuEventDestroy(" + name("e", e.id) + ")", cuEventDestroy(e.handle))) w.drop(w.events, e.id);
}

}  // namespace probe::sequence::steps

// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "cufault/handles/stream.h"

#include "cufault/handles/deferred.h"
#include "cufault/handles/scope.h"

namespace cufault::handles {
namespace {

bool is_done(const failure& answer) {
  if (answer.code == CUDA_ERROR_NOT_READY) {
    return false;
  }
  if (answer) {
    throw cuda_error(answer);
  }
  return true;
}

CUcontext raw_of(const shared<context>& in) noexcept { return in ? in->raw() : nullptr; }

}  // namespace

unique<stream> stream::create(const shared<context>& in, unsigned flags, int priority) {
  unique<stream> made(new stream(in, flags, priority));
  if (in->green() != nullptr) {
    drain_deferred();
    CUstream raw = nullptr;
    call(driver().cuGreenCtxStreamCreate, &raw, in->green(), flags, priority);
    made->raw_ = raw;
    return made;
  }
  run_or_undo_in_context(
      in->raw(),
      [&] {
        CUstream raw = nullptr;
        call(driver().cuStreamCreateWithPriority, &raw, flags, priority);
        made->raw_ = raw;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<stream> stream::borrow(CUstream raw) {
  unique<stream> made(new stream({}, 0, 0));
  made->raw_ = raw;
  return made;
}

bool stream::is_default() const noexcept {
  return raw_ == nullptr || raw_ == CU_STREAM_LEGACY || raw_ == CU_STREAM_PER_THREAD;
}

void stream::synchronize() const { call(driver().cuStreamSynchronize, raw_); }

bool stream::done() const { return is_done(attempt(driver().cuStreamQuery, as_number(raw_), raw_)); }

void stream::record(const event& what) const { call(driver().cuEventRecord, what.raw(), raw_); }

void stream::wait(const event& what) const {
  call(driver().cuStreamWaitEvent, raw_, what.raw(), static_cast<unsigned>(CU_EVENT_WAIT_DEFAULT));
}

void stream::destroy(cleanup& failures) noexcept {
  const CUstream raw = std::exchange(raw_, nullptr);
  if (raw != nullptr && owned()) {
    failures.call("the stream is leaked", loaded_driver()->cuStreamDestroy, as_number(raw), raw);
  }
}

unique<event> event::create(const shared<context>& in, unsigned flags) {
  unique<event> made(new event(in, flags));
  run_or_undo_in_context(
      raw_of(in),
      [&] {
        CUevent raw = nullptr;
        call(driver().cuEventCreate, &raw, flags);
        made->raw_ = raw;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

unique<event> event::open_ipc(const shared<context>& in, const CUipcEventHandle& exported) {
  unique<event> made(new event(in, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
  run_or_undo_in_context(
      raw_of(in),
      [&] {
        CUevent raw = nullptr;
        call(driver().cuIpcOpenEventHandle, &raw, exported);
        made->raw_ = raw;
      },
      [&](cleanup& failures) { made->destroy(failures); });
  return made;
}

CUipcEventHandle event::export_ipc() const {
  CUipcEventHandle exported{};
  call(driver().cuIpcGetEventHandle, &exported, raw_);
  return exported;
}

float event::milliseconds_since(const event& earlier) const {
  float elapsed = 0;
  call(driver().cuEventElapsedTime, &elapsed, earlier.raw_, raw_);
  return elapsed;
}

void event::synchronize() const { call(driver().cuEventSynchronize, raw_); }

bool event::done() const { return is_done(attempt(driver().cuEventQuery, as_number(raw_), raw_)); }

void event::destroy(cleanup& failures) noexcept {
  if (const CUevent raw = std::exchange(raw_, nullptr)) {
    failures.call("the event is leaked", loaded_driver()->cuEventDestroy, as_number(raw), raw);
  }
}

}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Entry points: events.
#include "context/context.h"
#include "core/call.h"
#include "event/event.h"
#include "graph/capture.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

constexpr Policy kQuery{.needs_init = false, .reports_fault = true, .inside = Callback::stream_callback};

bool valid_flags(unsigned flags) {
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  return (flags & ~kKnown) == 0 && ((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0);
}

std::shared_ptr<Event> usable(Call& call, CUevent handle) {
  auto event = call.use<Event>(handle);
  call.require_initialised();
  event->require_context();
  return event;
}

CUresult record_with(const char* symbol, CUevent handle, CUstream stream_handle, unsigned flags) {
  return api(symbol, {.reports_fault = true, .inside = Callback::stream_callback}, [&](Call& call) {
    require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0);
    const auto stream = stream_of(call, stream_handle);
    if (capturing(*stream))
      if (const Found found = call.driver.handles->find(handle); found.state == HandleState::live && found.kind == Kind::event) {
        const auto& event = static_cast<const Event&>(*found.object);
        // Recorded (sequences): refused, and the capture goes on.
        require((event.flags & CU_EVENT_INTERPROCESS) == 0 || event.context->base() != stream->context->base(),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
      }
    if (handle != nullptr && capturing(*stream)) require(!stream->capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    const auto event = usable(call, handle);
    require(event->context->base() == stream->context->base(), CUDA_ERROR_INVALID_HANDLE);
    refuse_implicit(call, *stream);
    if (!capturing(*stream)) {
      event->captured_ended = false;
      event->captured.reset();
      record(call.driver, *event, stream);
    } else if ((flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
      capture_work(call, *stream, RecordWork{event});
    } else {
      capture_record(call, *stream, *event);
    }
  });
}

}  // namespace

CUresult CUDAAPI cuEventCreate(CUevent* out, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    require(out != nullptr && valid_flags(flags));
    auto event = std::make_shared<Event>(context, flags);
    event->self = call.driver.handles->insert(Kind::event, event);
    *out = static_cast<CUevent>(event->self);
  });
}

CUresult CUDAAPI cuEventDestroy(CUevent handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    const auto event = call.doomed<Event>(handle);
    call.require_initialised();
    event->require_context();
    call.destroy<Event>(handle);
  });
}

CUresult CUDAAPI cuEventRecord(CUevent handle, CUstream stream) { return record_with(__func__, handle, stream, 0); }

CUresult CUDAAPI cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
  return record_with(__func__, handle, stream, flags);
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  return api(__func__, kQuery, [&](Call& call) -> CUresult {
    const auto event = usable(call, handle);
    if (const auto capture = event->captured.lock()) {
      invalidate(*capture);
      refuse(CUDA_ERROR_CAPTURED_EVENT);
    }
    require(!event->captured_ended);  // recorded (sequences): once the capture is over
    refuse_unsafe(call);
    return event->done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    const auto event = usable(call, handle);
    if (const auto capture = event->captured.lock()) {
      invalidate(*capture);
      refuse(CUDA_ERROR_CAPTURED_EVENT);
    }
    require(!event->captured_ended);
    refuse_unsafe(call);
    if (event->shared != nullptr) call.wait_for_others([&] { return event->done(); });
    const auto points = event->points;
    for (const Point& point : points) wait_for(call, point);
    call.require_no_fault();
  });
}

CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) -> CUresult {
    require(milliseconds != nullptr);
    const auto start = usable(call, start_handle), end = usable(call, end_handle);
    require(start->captured.expired() && end->captured.expired(), CUDA_ERROR_CAPTURED_EVENT);
    for (const auto& event : {start, end}) {  // one after the other, as recorded (sequences)
      require(!event->captured_ended);        // the capture is over
      require(event->recorded(), CUDA_ERROR_INVALID_HANDLE);
    }
    require(((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) == 0, CUDA_ERROR_INVALID_HANDLE);
    require(start->context == end->context, CUDA_ERROR_INVALID_HANDLE);
    if (!start->done() || !end->done()) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(static_cast<double>(*end->time - *start->time) / 1e6);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, stream_handle);
    require((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) == 0);
    const auto event = usable(call, handle);
    if (event->captured_ended && event->captured.expired()) {
      if (capturing(*stream)) invalidate(*stream->capture);
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, handle, "an event recorded in a capture that has ended");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    if ((flags & CU_EVENT_WAIT_EXTERNAL) != 0 && capturing(*stream)) {
      if (!event->recorded()) {
        invalidate(*stream->capture);
        refuse(CUDA_ERROR_INVALID_VALUE);
      }
      capture_work(call, *stream, WaitWork{event});
      return;
    }
    if ((event->flags & CU_EVENT_INTERPROCESS) != 0 && !event->recorded() && event->context != stream->context)
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, handle, "an interprocess event that was never recorded, in another context");
    if (!capture_wait(call, stream, *event)) wait_event(call.driver, *event, stream);
  });
}

CUresult CUDAAPI cuCtxRecordEvent(CUcontext handle, CUevent event_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    const auto context = context_or_current(call, handle);
    const auto event = usable(call, event_handle);
    refuse_in_captured_context(call, *context);
    require(event->context == context, CUDA_ERROR_INVALID_HANDLE);
    record_context(call.driver, *event, *context);
  });
}

CUresult CUDAAPI cuCtxWaitEvent(CUcontext handle, CUevent event_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    const auto context = context_or_current(call, handle);
    const auto event = usable(call, event_handle);
    refuse_in_captured_context(call, *context);
    wait_in_context(*event, *context);
  });
}

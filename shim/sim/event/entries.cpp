// SPDX-License-Identifier: Apache-2.0
// Entry points: events.
#include "context/context.h"
#include "core/call.h"
#include "event/event.h"
#include "graph/capture.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

constexpr unsigned kFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

bool valid_flags(unsigned flags) {
  return (flags & ~kFlags) == 0 && ((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0);
}

CUresult record_event(const char* symbol, CUevent handle, CUstream stream_handle, unsigned flags) {
  return api(symbol, {.reports_fault = true, .inside = Callback::stream_callback}, [&](Call& call) {
    require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0);
    const auto stream = stream_of(call, stream_handle);
    const auto event = call.use<Event>(handle);
    event->require_context();
    require(event->context == stream->context);
    // Recorded: an event of another context answers INVALID_HANDLE.
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// One good call of each function: streams, events, capture, stream memory operations.
#include "cases/more_calls.h"

namespace probe {
namespace {

CUstreamCaptureStatus status;
CUstreamAttrValue attribute;

CUstreamBatchMemOpParams write_operation() {
  CUstreamBatchMemOpParams one{};
  one.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  one.writeValue.address = t.p;
  one.writeValue.value = 1;
  return one;
}

const GoodCall calls[] = {
    GOOD(cuStreamCreateWithPriority(&o.s, CU_STREAM_NON_BLOCKING, -1)),
    GOOD(cuStreamSynchronize(t.s)),
    GOOD(cuStreamGetFlags(t.s, &o.u)),
    GOOD(cuStreamGetPriority(t.s, &o.n)),
    GOOD(cuStreamGetCtx(t.s, &o.ctx)),
    GOOD(cuStreamGetCtx_v2(t.s, &o.ctx, &o.gc)),
    GOOD(cuStreamGetGreenCtx(t.s, &o.gc)),
    GOOD(cuStreamGetDevice(t.s, &o.dev)),
    GOOD(cuStreamGetId(t.s, &o.ull)),
    GOOD(cuStreamGetAttribute(t.s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &attribute)),
    GOOD(cuStreamSetAttribute(t.s, CU_STREAM_ATTRIBUTE_PRIORITY, &attribute)),
    GOOD(cuStreamCopyAttributes(t.s, r.st)),
    GOOD(cuStreamWaitEvent(t.s, t.e, 0)),
    GOOD(cuStreamAddCallback(t.s, stream_nothing, nullptr, 0)),
    GOOD(cuLaunchHostFunc(t.s, nothing, nullptr)),
    GOOD(cuStreamAttachMemAsync(t.s, t.m, 0, CU_MEM_ATTACH_GLOBAL)),
    GOOD(cuStreamWriteValue32(t.s, t.p, 1, 0)),
    GOOD(cuStreamWriteValue64(t.s, t.p, 1, 0)),
    GOOD(cuStreamWaitValue32(t.s, t.q, 0, CU_STREAM_WAIT_VALUE_GEQ)),
    GOOD(cuStreamWaitValue64(t.s, t.q, 0, CU_STREAM_WAIT_VALUE_GEQ)),
    GoodCall{"cuStreamBatchMemOp", [] { auto one = write_operation(); return cuStreamBatchMemOp(t.s, 1, &one, 0); }},
    GOOD(cuStreamIsCapturing(t.s, &status)),
    GOOD(cuStreamGetCaptureInfo(t.s, &status, nullptr, nullptr, nullptr, nullptr, nullptr)),
    GOOD(cuStreamBeginCapture(t.s, CU_STREAM_CAPTURE_MODE_RELAXED)),
    GOOD(cuStreamBeginCaptureToGraph(t.s, r.g2, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED)),
    GOOD(cuStreamEndCapture(t.capturing, &o.g)),
    GOOD(cuStreamUpdateCaptureDependencies(t.capturing, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES)),
    GOOD(cuEventRecordWithFlags(t.e, t.s, 0)),
    GOOD(cuEventSynchronize(t.e)),
    GOOD(cuEventElapsedTime(&o.ms, t.e, t.e2)),
};

}  // namespace

std::span<const GoodCall> good_stream_calls() { return calls; }

}  // namespace probe

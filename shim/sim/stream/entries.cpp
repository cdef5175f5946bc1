// SPDX-License-Identifier: Apache-2.0
// Entry points: streams and what can be asked of them.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

constexpr int kGreatestPriority = -5;

CUresult create(const char* symbol, CUstream* out, unsigned flags, int priority) {
  return api(symbol, kFaults, [&](Call& call) {
    require(out != nullptr && flags <= CU_STREAM_NON_BLOCKING);
    const auto& context = call.current();
    auto stream = std::make_shared<Stream>(context, Stream::Role::created, flags, std::clamp(priority, kGreatestPriority, 0));
    *out = static_cast<CUstream>(call.driver.handles->insert(Kind::stream, std::move(stream)));
  });
}

}  // namespace

CUresult CUDAAPI cuStreamCreate(CUstream* out, unsigned int flags) { return create(__func__, out, flags, 0); }

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* out, unsigned int flags, int priority) {
  return create(__func__, out, flags, priority);
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
    call.require_initialised();
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
      (void)call.current();
      refuse(CUDA_ERROR_INVALID_HANDLE);
    }
    const auto stream = call.doomed<Stream>(handle);
    stream->require_context();
    end_capture_of(call.driver, *stream);
    call.destroy<Stream>(handle);  // what was submitted still runs
  });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return api(__func__, {.reports_fault = true, .inside = Callback::stream_callback}, [&](Call& call) -> CUresult {
    const auto stream = stream_of(call, handle);
    refuse_on_capturing(call, *stream);
    refuse_unsafe(call);
    return stream->idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    refuse_on_capturing(call, *stream);
    refuse_unsafe(call);
    wait_for(call, {stream, stream->submitted});
  });
}

CUresult CUDAAPI cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr);
    *flags = stream_of(call, handle)->flags;
  });
}

CUresult CUDAAPI cuStreamGetPriority(CUstream handle, int* priority) {
  return api(__func__, kPlain, [&](Call& call) {
    require(priority != nullptr);
    *priority = stream_of(call, handle)->priority;
  });
}

CUresult CUDAAPI cuStreamGetId(CUstream handle, unsigned long long* id) {
  return api(__func__, kPlain, [&](Call& call) {
    require(id != nullptr);
    *id = stream_of(call, handle)->id;
  });
}

CUresult CUDAAPI cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return api(__func__, kPlain, [&](Call& call) {
    require(device != nullptr);
    *device = stream_of(call, handle)->context->device.ordinal;
  });
}

CUresult CUDAAPI cuStreamCopyAttributes(CUstream to, CUstream from) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto target = stream_of(call, to), source = stream_of(call, from);
    target->attributes = source->attributes;
  });
}

CUresult CUDAAPI cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto stream = stream_of(call, handle);
    *value = CUstreamAttrValue{};
    if (const auto set = stream->attributes.find(static_cast<int>(attribute)); set != stream->attributes.end()) {
      *value = set->second;
      return;
    }
    switch (attribute) {
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: value->syncPolicy = CU_SYNC_POLICY_AUTO; break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = stream->priority; break;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: break;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: value->memSyncDomainMap.remote = 1; break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto stream = stream_of(call, handle);
    switch (attribute) {
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: stream->attributes[static_cast<int>(attribute)] = *value; break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

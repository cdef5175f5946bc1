// SPDX-License-Identifier: Apache-2.0
// Entry points: copies and fills, at once or in a stream.
#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "memory/copy.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

void run(Call& call, const std::shared_ptr<Stream>& stream, std::function<void()> bytes) {
  if (!bytes) return;
  Operation operation;
  operation.run = std::move(bytes);
  submit(call.driver, stream, std::move(operation));
}

// Copies without a stream run in the legacy stream, or the thread's own in a _ptds variant, and are waited for.
void run_and_wait(Call& call, std::function<void()> bytes) {
  const auto stream = stream_of(call, nullptr);
  refuse_implicit(call, *stream);
  if (!bytes) return;
  Operation operation;
  operation.run = std::move(bytes);
  const Point point = submit(call.driver, stream, std::move(operation));
  if (!point.reached()) call.wait([&] { return point.reached(); });
  call.require_no_fault();
}

CUresult copy(const char* symbol, CUdeviceptr to, End to_end, CUdeviceptr from, End from_end, size_t size) {
  return api(symbol, kFaults, [&](Call& call) {
    (void)call.current();
    run_and_wait(call, plan_copy(call, to, to_end, from, from_end, size));
  });
}

CUresult copy_async(const char* symbol, CUdeviceptr to, End to_end, CUdeviceptr from, End from_end, size_t size,
                    CUstream handle) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    auto bytes = plan_copy(call, to, to_end, from, from_end, size);
    if (!bytes) return;
    if (capturing(*stream))
      capture_work(call, *stream, CopyWork{as_copy(to, to_end, from, from_end, size), stream->context->handle()});
    else {
      refuse_implicit(call, *stream);
      run(call, stream, std::move(bytes));
    }
  });
}

CUresult copy(const char* symbol, const CUDA_MEMCPY3D* what) {
  return api(symbol, kFaults, [&](Call& call) {
    (void)call.current();
    require(what != nullptr);
    run_and_wait(call, plan_copy(call, *what));
  });
}

CUresult copy_async(const char* symbol, const CUDA_MEMCPY3D* what, CUstream handle) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    require(what != nullptr);
    auto bytes = plan_copy(call, *what);
    if (!bytes) return;
    if (capturing(*stream))
      capture_work(call, *stream, CopyWork{*what, stream->context->handle()});
    else {
      refuse_implicit(call, *stream);
      run(call, stream, std::move(bytes));
    }
  });
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& flat) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = flat.srcXInBytes;
  copy.srcY = flat.srcY;
  copy.srcMemoryType = flat.srcMemoryType;
  copy.srcHost = flat.srcHost;
  copy.srcDevice = flat.srcDevice;
  copy.srcArray = flat.srcArray;
  copy.srcPitch = flat.srcPitch;
  copy.dstXInBytes = flat.dstXInBytes;
  copy.dstY = flat.dstY;
  copy.dstMemoryType = flat.dstMemoryType;
  copy.dstHost = flat.dstHost;
  copy.dstDevice = flat.dstDevice;
  copy.dstArray = flat.dstArray;
  copy.dstPitch = flat.dstPitch;
  copy.WidthInBytes = flat.WidthInBytes;
  copy.Height = flat.Height;
  copy.Depth = 1;
  return copy;
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY3D_PEER& peer) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = peer.srcXInBytes;
  copy.srcY = peer.srcY;
  copy.srcZ = peer.srcZ;
  copy.srcMemoryType = peer.srcMemoryType;
  copy.srcHost = peer.srcHost;
  copy.srcDevice = peer.srcDevice;
  copy.srcArray = peer.srcArray;
  copy.srcPitch = peer.srcPitch;
  copy.srcHeight = peer.srcHeight;
  copy.dstXInBytes = peer.dstXInBytes;
  copy.dstY = peer.dstY;
  copy.dstZ = peer.dstZ;
  copy.dstMemoryType = peer.dstMemoryType;
  copy.dstHost = peer.dstHost;
  copy.dstDevice = peer.dstDevice;
  copy.dstArray = peer.dstArray;
  copy.dstPitch = peer.dstPitch;
  copy.dstHeight = peer.dstHeight;
  copy.WidthInBytes = peer.WidthInBytes;
  copy.Height = peer.Height;
  copy.Depth = peer.Depth;
  return copy;
}

CUDA_MEMSET_NODE_PARAMS fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height) {
  CUDA_MEMSET_NODE_PARAMS set{};
  set.dst = to;
  set.pitch = pitch;
  set.value = value;
  set.elementSize = element;
  set.width = width;
  set.height = height;
  return set;
}

CUresult set(const char* symbol, const CUDA_MEMSET_NODE_PARAMS& what) {
  return api(symbol, kFaults, [&](Call& call) {
    (void)call.current();
    run_and_wait(call, plan_set(call, what));
  });
}

CUresult set_async(const char* symbol, const CUDA_MEMSET_NODE_PARAMS& what, CUstream handle) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    auto bytes = plan_set(call, what);
    if (!bytes) return;
    if (capturing(*stream))
      capture_work(call, *stream, SetWork{what, stream->context->handle()});
    else {
      refuse_implicit(call, *stream);
      run(call, stream, std::move(bytes));
    }
  });
}

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy(__func__, to, End::any, from, End::any, size);
}
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_async(__func__, to, End::any, from, End::any, size, stream);
}
CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
  return copy(__func__, to, End::device, address_of(from), End::host, size);
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return copy_async(__func__, to, End::device, address_of(from), End::host, size, stream);
}
CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
  return copy(__func__, address_of(to), End::host, from, End::device, size);
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_async(__func__, address_of(to), End::host, from, End::device, size, stream);
}
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy(__func__, to, End::device, from, End::device, size);
}
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy_async(__func__, to, End::device, from, End::device, size, stream);
}

// Recorded: null contexts are taken as well, and mean the memory's own.
CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size) {
  return copy(__func__, to, End::device, from, End::device, size);
}
CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size, CUstream stream) {
  return copy_async(__func__, to, End::device, from, End::device, size, stream);
}

CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D* what) {
  const CUDA_MEMCPY3D full = what == nullptr ? CUDA_MEMCPY3D{} : as_3d(*what);
  return copy(__func__, what == nullptr ? nullptr : &full);
}
CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* what) {
  const CUDA_MEMCPY3D full = what == nullptr ? CUDA_MEMCPY3D{} : as_3d(*what);
  return copy(__func__, what == nullptr ? nullptr : &full);
}
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D* what, CUstream stream) {
  const CUDA_MEMCPY3D full = what == nullptr ? CUDA_MEMCPY3D{} : as_3d(*what);
  return copy_async(__func__, what == nullptr ? nullptr : &full, stream);
}
CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D* what) { return copy(__func__, what); }
CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D* what, CUstream stream) { return copy_async(__func__, what, stream); }

CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* what) {
  if (what == nullptr)
    return api(__func__, kFaults, [](Call& call) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null description");
      refuse(CUDA_ERROR_INVALID_VALUE);
    });
  const CUDA_MEMCPY3D full = as_3d(*what);
  return copy(__func__, &full);
}
CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* what, CUstream stream) {
  const CUDA_MEMCPY3D full = what == nullptr ? CUDA_MEMCPY3D{} : as_3d(*what);
  return copy_async(__func__, what == nullptr ? nullptr : &full, stream);
}

CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return set(__func__, fill(to, 0, value, 1, count, 1));
}
CUresult CUDAAPI cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return set(__func__, fill(to, 0, value, 2, count, 1));
}
CUresult CUDAAPI cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  return set(__func__, fill(to, 0, value, 4, count, 1));
}
CUresult CUDAAPI cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return set(__func__, fill(to, pitch, value, 1, width, height));
}
CUresult CUDAAPI cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return set(__func__, fill(to, pitch, value, 2, width, height));
}
CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return set(__func__, fill(to, pitch, value, 4, width, height));
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return set_async(__func__, fill(to, 0, value, 1, count, 1), stream);
}
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return set_async(__func__, fill(to, 0, value, 2, count, 1), stream);
}
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return set_async(__func__, fill(to, 0, value, 4, count, 1), stream);
}
CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                                   CUstream stream) {
  return set_async(__func__, fill(to, pitch, value, 1, width, height), stream);
}
CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                                    CUstream stream) {
  return set_async(__func__, fill(to, pitch, value, 2, width, height), stream);
}
CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                                    CUstream stream) {
  return set_async(__func__, fill(to, pitch, value, 4, width, height), stream);
}

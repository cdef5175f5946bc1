// SPDX-License-Identifier: Apache-2.0
// Entry points: launching kernels, in all the ways there are.
#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "graph/graph.h"
#include "module/function.h"
#include "module/launch.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

// The stream of a launch. Recorded (launch_contexts): with no current context at all, the function's own context serves.
std::shared_ptr<Stream> stream_for(Call& call, const Function& function, CUstream handle) {
  const auto& own = function.module->context;
  if (call.current_or_null() == nullptr) {
    if (handle == CU_STREAM_PER_THREAD || (handle == nullptr && call.thread.null_is_per_thread))
      return own->thread_stream(call.thread.ordinal);
    if (handle == nullptr || handle == CU_STREAM_LEGACY) return own->legacy_stream();
  }
  auto stream = stream_of(call, handle);
  require(stream->context->base() == own->base(), CUDA_ERROR_INVALID_HANDLE);
  return stream;
}

CUresult launch(const char* symbol, CUfunction handle, const CUDA_KERNEL_NODE_PARAMS& params, CUstream stream_handle,
                const CUlaunchAttribute* attributes, unsigned count) {
  return api(symbol, kFaults, [&](Call& call) {
    require(handle != nullptr, CUDA_ERROR_INVALID_HANDLE);
    auto function = function_of(call, handle);
    const auto stream = stream_for(call, *function, stream_handle);
    if (capturing(*stream)) require(!stream->capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    try {
      enqueue(call, stream, kernel_work(call, std::move(function), params, attributes, count));
    } catch (const Refusal& refusal) {
      // Recorded (sequences): without a current context, an argument's error needs one.
      require(refusal.code != CUDA_ERROR_INVALID_VALUE || call.current_or_null() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
      // Recorded (capture_calls_*): a refused launch ends the capture.
      if (capturing(*stream)) invalidate(*stream->capture);
      throw;
    }
  });
}

CUDA_KERNEL_NODE_PARAMS shape(CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                              void** params, void** extra) {
  CUDA_KERNEL_NODE_PARAMS made{};
  made.func = function;
  made.gridDimX = grid[0];
  made.gridDimY = grid[1];
  made.gridDimZ = grid[2];
  made.blockDimX = block[0];
  made.blockDimY = block[1];
  made.blockDimZ = block[2];
  made.sharedMemBytes = shared;
  made.kernelParams = params;
  made.extra = extra;
  return made;
}

CUlaunchAttribute cooperative() {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return attribute;
}

template <class Body>
CUresult with_function(const char* symbol, CUfunction handle, Body&& body) {
  return api(symbol, kPlain, [&](Call& call) { body(*call.use<Function>(handle)); });
}

CUresult launch_shaped(const char* symbol, CUfunction handle, int width, int height, CUstream stream) {
  unsigned block[3] = {1, 1, 1}, shared = 0;
  std::vector<unsigned char> bytes;
  const CUresult found = api(symbol, kPlain, [&](Call& call) {
    const auto function = call.use<Function>(handle);
    require(width > 0 && height > 0);
    std::copy(std::begin(function->block), std::end(function->block), std::begin(block));
    shared = function->shared;
    bytes.resize(function->kernel->parameter_bytes);
    std::memcpy(bytes.data(), function->parameters.data(), std::min(bytes.size(), function->parameters.size()));
  });
  if (found != CUDA_SUCCESS) return found;
  std::size_t size = bytes.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  const unsigned grid[3] = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
  return launch(symbol, handle, shape(handle, grid, block, shared, nullptr, bytes.empty() ? nullptr : extra), stream, nullptr, 0);
}

CUresult set_parameter(const char* symbol, CUfunction handle, int offset, const void* value, std::size_t size) {
  return with_function(symbol, handle, [&](Function& function) {
    require(offset >= 0 && offset <= 4096);
    const auto end = static_cast<std::size_t>(offset) + size;
    if (function.parameters.size() < end) function.parameters.resize(end);
    std::memcpy(function.parameters.data() + offset, value, size);
  });
}

}  // namespace

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, CUstream stream, void** params, void** extra) {
  return launch(__func__, f, shape(f, {gx, gy, gz}, {bx, by, bz}, shared, params, extra), stream, nullptr, 0);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** params, void** extra) {
  if (config == nullptr) return api(__func__, kFaults, [](Call&) { refuse(CUDA_ERROR_INVALID_VALUE); });
  const auto& c = *config;
  return launch(__func__, f,
                shape(f, {c.gridDimX, c.gridDimY, c.gridDimZ}, {c.blockDimX, c.blockDimY, c.blockDimZ}, c.sharedMemBytes, params, extra),
                c.hStream, c.attrs, c.numAttrs);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                           unsigned bz, unsigned shared, CUstream stream, void** params) {
  const CUlaunchAttribute attribute = cooperative();
  return launch(__func__, f, shape(f, {gx, gy, gz}, {bx, by, bz}, shared, params, nullptr), stream, &attribute, 1);
}

CUresult CUDAAPI cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned int count, unsigned int flags) {
  if (list == nullptr || count == 0 || flags > 3) return api(__func__, kFaults, [](Call&) { refuse(CUDA_ERROR_INVALID_VALUE); });
  const CUlaunchAttribute attribute = cooperative();
  for (unsigned i = 0; i < count; ++i) {
    const auto& c = list[i];
    const CUresult one = launch(__func__, c.function,
                                shape(c.function, {c.gridDimX, c.gridDimY, c.gridDimZ}, {c.blockDimX, c.blockDimY, c.blockDimZ},
                                      c.sharedMemBytes, c.kernelParams, nullptr),
                                c.hStream, &attribute, 1);
    if (one != CUDA_SUCCESS) return one;
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  return with_function(__func__, handle, [&](Function& function) {
    require(x > 0 && y > 0 && z > 0 && x <= 1024 && y <= 1024 && z <= 64 && x * y * z <= function.kernel->max_threads);
    function.block[0] = static_cast<unsigned>(x);
    function.block[1] = static_cast<unsigned>(y);
    function.block[2] = static_cast<unsigned>(z);
  });
}

CUresult CUDAAPI cuFuncSetSharedSize(CUfunction handle, unsigned int bytes) {
  return with_function(__func__, handle, [&](Function& function) {
    require(bytes <= static_cast<unsigned>(function.attributes.max_dynamic_shared));
    function.shared = bytes;
  });
}

CUresult CUDAAPI cuParamSetSize(CUfunction handle, unsigned int size) {
  return with_function(__func__, handle, [&](Function& function) { function.parameters.resize(std::min(size, 1u << 16)); });
}

CUresult CUDAAPI cuParamSeti(CUfunction handle, int offset, unsigned int value) {
  return set_parameter(__func__, handle, offset, &value, sizeof value);
}
CUresult CUDAAPI cuParamSetf(CUfunction handle, int offset, float value) {
  return set_parameter(__func__, handle, offset, &value, sizeof value);
}
CUresult CUDAAPI cuParamSetv(CUfunction handle, int offset, void* pointer, unsigned int size) {
  if (pointer == nullptr || size > 4096) return api(__func__, kPlain, [](Call&) { refuse(CUDA_ERROR_INVALID_VALUE); });
  return set_parameter(__func__, handle, offset, pointer, size);
}

CUresult CUDAAPI cuLaunch(CUfunction f) { return launch_shaped(__func__, f, 1, 1, nullptr); }
CUresult CUDAAPI cuLaunchGrid(CUfunction f, int width, int height) { return launch_shaped(__func__, f, width, height, nullptr); }
CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream) {
  return launch_shaped(__func__, f, width, height, stream);
}

CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto target = call.use<Node>(to, CUDA_ERROR_INVALID_VALUE), source = call.use<Node>(from, CUDA_ERROR_INVALID_VALUE);
    auto* into = std::get_if<KernelWork>(&target->work);
    const auto* of = std::get_if<KernelWork>(&source->work);
    require(into != nullptr && of != nullptr);
    into->attributes = of->attributes;
  });
}

CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto node = call.use<Node>(handle, CUDA_ERROR_INVALID_VALUE);
    const auto* kernel = std::get_if<KernelWork>(&node->work);
    require(kernel != nullptr);
    const auto at = kernel->attributes.find(static_cast<int>(attribute));
    *value = at == kernel->attributes.end() ? CUkernelNodeAttrValue{} : at->second;
  });
}

CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue* value) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto node = call.use<Node>(handle, CUDA_ERROR_INVALID_VALUE);
    auto* kernel = std::get_if<KernelWork>(&node->work);
    require(kernel != nullptr);
    kernel->attributes[static_cast<int>(attribute)] = *value;
  });
}

// SPDX-License-Identifier: Apache-2.0
// Entry points: making, switching and destroying contexts.
#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/pool.h"
#include "stream/stream.h"

using namespace cufault::sim;

namespace {

bool valid_flags(unsigned flags) {
  return (flags & ~kContextFlags) == 0 && (flags & CU_CTX_SCHED_MASK) != 3 && (flags & CU_CTX_SCHED_MASK) <= 4;
}

// The context to make current. The recorded driver accepted a destroyed context once and crashed the second time.
std::shared_ptr<Context> context_to_switch_to(Call& call, CUcontext handle) {
  const Found found = call.driver.handles->find(handle);
  if (found.state == HandleState::destroyed && found.kind == Kind::context) {
    if (auto dead = std::static_pointer_cast<Context>(call.driver.handles->kept(handle));
        dead != nullptr && dead->uses_after_destroy++ == 0) {
      call.misuse(CUFAULT_MISUSE_USE_AFTER_DESTROY, handle, "a destroyed context is made current");
      return dead;
    }
    call.misuse(CUFAULT_MISUSE_WOULD_CRASH, handle, "a destroyed context is made current again");
    refuse(CUDA_ERROR_INVALID_CONTEXT);
  }
  return call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
}

void synchronize(Call& call, const Context& context) {
  refuse_in_captured_context(call, context);
  drain(call, context);
  call.require_no_fault();
  trim_pools(context.device);
}

}  // namespace

CUresult CUDAAPI cuCtxCreate(CUcontext* out, CUctxCreateParams* parameters, unsigned int flags, CUdevice dev) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && valid_flags(flags));
    Device& device = call.driver.device(dev);
    if (parameters != nullptr) {
      const bool affinity = parameters->execAffinityParams != nullptr || parameters->numExecAffinityParams != 0;
      if (affinity) refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
      if (parameters->cigParams != nullptr) refuse(CUDA_ERROR_NOT_SUPPORTED);
    }
    auto context = std::make_shared<Context>(device, flags, false, call.driver.next_id());
    context->activate(flags);
    context->self = call.driver.handles->insert(Kind::context, context);
    call.thread.stack.push_back(context);
    *out = context->handle();
  });
}

CUresult CUDAAPI cuCtxDestroy(CUcontext handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(handle != nullptr);
    auto context = call.doomed<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
    require(!context->primary && context->parent == nullptr, CUDA_ERROR_INVALID_CONTEXT);
    destroy_context(call, context);
    call.driver.handles->remove(handle);
    call.driver.handles->keep(handle, context);
    auto& stack = call.thread.stack;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
  });
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(handle != nullptr);
    call.thread.stack.push_back(context_to_switch_to(call, handle));
  });
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* out) {
  return api(__func__, kPlain, [&](Call& call) {
    auto& stack = call.thread.stack;
    require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
    if (out != nullptr) *out = stack.back()->handle();
    stack.pop_back();
  });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
  return api(__func__, kPlain, [&](Call& call) {
    auto& stack = call.thread.stack;
    if (handle == nullptr) {
      if (!stack.empty()) stack.pop_back();
      return;
    }
    if (!stack.empty() && stack.back()->handle() == handle && stack.back()->alive()) return;
    auto context = context_to_switch_to(call, handle);
    if (stack.empty())
      stack.push_back(std::move(context));
    else
      stack.back() = std::move(context);
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* out) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto context = call.current_or_null();
    *out = context == nullptr ? nullptr : context->handle();
  });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* out) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto context = call.current_or_null();
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *out = context->device.ordinal;  // recorded: a context that is gone still says its device
  });
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = context_or_current(call, handle)->device.ordinal;
  });
}

CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long* out) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = context_or_current(call, handle)->id;
  });
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  return api(__func__, kPlain, [&](Call& call) {
    require(version != nullptr);
    const auto context = handle == nullptr ? call.current() : call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
    require(context->alive(), CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020;
  });
}

CUresult CUDAAPI cuCtxAttach(CUcontext* out, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && flags == 0);
    const auto& context = call.current();
    ++context->attached;
    *out = context->handle();
  });
}

CUresult CUDAAPI cuCtxDetach(CUcontext handle) {
  return api(__func__, kPlain, [&](Call& call) {
    auto context = call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
    require(call.current_or_null() == context, CUDA_ERROR_INVALID_CONTEXT);
    if (context->attached != 0) {
      --context->attached;
      return;
    }
    if (context->primary) return;
    destroy_context(call, context);
    call.driver.handles->remove(handle);
    call.driver.handles->keep(handle, context);
    call.thread.stack.pop_back();
  });
}

CUresult CUDAAPI cuCtxSynchronize(void) {
  return api(__func__, kFaults, [&](Call& call) {
    synchronize(call, *std::shared_ptr(call.current()));
  });
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext handle) {
  return api(__func__, kFaults, [&](Call& call) {
    synchronize(call, *context_or_current(call, handle));
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice dev) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr);
    Device& device = call.driver.device(dev);
    if (!device.primary->alive()) device.primary->activate(device.primary_flags);
    ++device.retains;
    *out = device.primary->handle();
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    require(device.retains != 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--device.retains == 0 && device.greens == 0 && device.primary->alive()) destroy_context(call, device.primary);
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    require(device.greens == 0, CUDA_ERROR_NOT_PERMITTED);
    device.primary_flags = 0;  // recorded: the retains are still there to be released
    if (device.primary->alive()) destroy_context(call, device.primary);
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr && active != nullptr);
    const Device& device = call.driver.device(dev);
    *flags = device.primary_flags;
    *active = device.primary->alive() ? 1 : 0;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    Device& device = call.driver.device(dev);
    require(valid_flags(flags) && (flags & CU_CTX_MAP_HOST) == 0);  // recorded: MAP_HOST is refused here
    device.primary_flags = flags;
    if (device.primary->alive()) device.primary->flags = flags;
  });
}

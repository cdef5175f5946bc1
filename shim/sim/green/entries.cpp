// SPDX-License-Identifier: Apache-2.0
// Entry points: device resources and green contexts (recorded: green_*).
#include "green/green.h"

#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "event/event.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

constexpr unsigned kAlignment = 8;
constexpr unsigned kFineAlignment = 2;
constexpr std::uint64_t kMark = 0x63756661756c7452ull;

// What the driver keeps in a resource's padding: without it, a resource is forged.
struct Inside {
  std::uint64_t mark;
  unsigned level;
};

unsigned level_of(const CUdevResource& resource) {
  Inside inside{};
  std::memcpy(&inside, resource._internal_padding, sizeof inside);
  require(inside.mark == kMark, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  return inside.level;
}

void require_type(CUdevResourceType type) { require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE); }

unsigned all_of(const Device& device) {
  return static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

std::shared_ptr<GreenContext> green_of(Call& call, CUgreenCtx handle) {
  return call.use<GreenContext>(handle, CUDA_ERROR_INVALID_CONTEXT);
}

// Recorded (green_split): how many groups of a size the device has. One group of eight is lost to its layout.
unsigned groups_of(unsigned available, unsigned size) { return size == kAlignment ? (available - 12) / size : available / size; }

}  // namespace

CUdevResource multiprocessors(unsigned count, unsigned level) {
  CUdevResource made{};
  made.type = CU_DEV_RESOURCE_TYPE_SM;
  const Inside inside{kMark, level};
  std::memcpy(made._internal_padding, &inside, sizeof inside);
  made.sm.smCount = count;
  made.sm.minSmPartitionSize = kAlignment;
  made.sm.smCoscheduledAlignment = kAlignment;
  return made;
}

}  // namespace cufault::sim

using namespace cufault::sim;

CUresult CUDAAPI cuDeviceGetDevResource(CUdevice dev, CUdevResource* out, CUdevResourceType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const Device& device = call.driver.device(dev);
    require_type(type);
    *out = multiprocessors(all_of(device), 0);
  });
}

CUresult CUDAAPI cuCtxGetDevResource(CUcontext handle, CUdevResource* out, CUdevResourceType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(out != nullptr);
    const auto context = context_or_current(call, handle);
    require_type(type);
    *out = multiprocessors(context->multiprocessors != 0 ? context->multiprocessors : all_of(context->device), 0);
  });
}

CUresult CUDAAPI cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* out, CUdevResourceType type) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto green = green_of(call, handle);
    require(out != nullptr);
    require_type(type);
    *out = multiprocessors(green->context->multiprocessors, 1);
  });
}

CUresult CUDAAPI cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* groups, const CUdevResource* input,
                                             CUdevResource* rest, unsigned int flags, unsigned int minimum) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call;
    require(groups != nullptr && input != nullptr);
    require_type(input->type);
    constexpr unsigned kIgnore = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, kLarge = CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    require((flags & (kIgnore | kLarge)) != (kIgnore | kLarge));
    const unsigned level = level_of(*input);
    require(level == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    const unsigned available = input->sm.smCount;
    require(minimum <= available, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    const unsigned step = (flags & kIgnore) != 0 ? kFineAlignment : kAlignment;
    const unsigned size = std::min((std::max(minimum, step) + step - 1) / step * step, available);
    const unsigned most = groups_of(available, size);
    if (result == nullptr) {
      *groups = most;
      return;
    }
    require(*groups != 0);
    const unsigned made = std::min(*groups, most);
    for (unsigned i = 0; i < made; ++i) result[i] = multiprocessors(size, 1);
    *groups = made;
    if (rest == nullptr) return;
    const unsigned left = available - made * size;
    *rest = left == 0 ? CUdevResource{} : multiprocessors(left, 1);
  });
}

CUresult CUDAAPI cuDevResourceGenerateDesc(CUdevResourceDesc* out, CUdevResource* resources, unsigned int count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && resources != nullptr);
    if (count == 0) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "no resources");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    auto made = std::make_shared<ResourceDescriptor>();
    for (unsigned i = 0; i < count; ++i) {
      require_type(resources[i].type);
      (void)level_of(resources[i]);
      made->multiprocessors += resources[i].sm.smCount;
    }
    *out = static_cast<CUdevResourceDesc>(call.driver.handles->insert(Kind::resource_descriptor, std::move(made)));
  });
}

CUresult CUDAAPI cuGreenCtxCreate(CUgreenCtx* out, CUdevResourceDesc descriptor, CUdevice dev, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && flags == CU_GREEN_CTX_DEFAULT_STREAM);
    Device& device = call.driver.device(dev);
    // Recorded: no descriptor is accepted.
    const unsigned count = descriptor == nullptr ? all_of(device)
                                                 : call.use<ResourceDescriptor>(descriptor, CUDA_ERROR_INVALID_VALUE)->multiprocessors;
    if (!device.primary->alive()) device.primary->activate(device.primary_flags);
    ++device.greens;
    auto green = std::make_shared<GreenContext>();
    green->context = std::make_shared<Context>(device, CU_CTX_MAP_HOST, false, call.driver.next_id());
    green->context->activate(CU_CTX_MAP_HOST);
    green->context->parent = device.primary;
    green->context->multiprocessors = count;
    green->context->self = call.driver.handles->insert(Kind::context, green->context);
    green->handle = static_cast<CUgreenCtx>(call.driver.handles->insert(Kind::green_context, green));
    green->context->green = green->handle;
    *out = green->handle;
  });
}

CUresult CUDAAPI cuGreenCtxDestroy(CUgreenCtx handle) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto green = call.doomed<GreenContext>(handle, CUDA_ERROR_INVALID_CONTEXT);
    Device& device = green->context->device;
    destroy_context(call, green->context);
    call.destroy<GreenContext>(handle, CUDA_ERROR_INVALID_CONTEXT);
    call.driver.handles->remove(green->context->self);
    call.driver.handles->keep(green->context->self, green->context);
    if (--device.greens == 0 && device.retains == 0) destroy_context(call, device.primary);
  });
}

CUresult CUDAAPI cuCtxFromGreenCtx(CUcontext* out, CUgreenCtx handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = green_of(call, handle)->context->handle();
  });
}

CUresult CUDAAPI cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return api(__func__, kPlain, [&](Call& call) {
    require(id != nullptr);
    *id = handle == nullptr ? call.current()->id : green_of(call, handle)->context->id;
  });
}

CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream* out, CUgreenCtx handle, unsigned int flags, int priority) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr);
    const auto green = green_of(call, handle);
    require(flags == CU_STREAM_NON_BLOCKING);
    auto stream = std::make_shared<Stream>(green->context, Stream::Role::created, flags, std::clamp(priority, -5, 0));
    *out = static_cast<CUstream>(call.driver.handles->insert(Kind::stream, std::move(stream)));
  });
}

CUresult CUDAAPI cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto green = green_of(call, handle);
    record_context(call.driver, *call.use<Event>(event_handle), *green->context);
  });
}

CUresult CUDAAPI cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event_handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto green = green_of(call, handle);
    wait_in_context(*call.use<Event>(event_handle), *green->context);
  });
}

CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext* out) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = stream_of(call, handle)->context->handle();
  });
}

CUresult CUDAAPI cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  return api(__func__, kPlain, [&](Call& call) {
    require(context != nullptr);
    const auto& own = stream_of(call, handle)->context;
    *context = own->handle();
    if (green != nullptr) *green = static_cast<CUgreenCtx>(own->green);
  });
}

CUresult CUDAAPI cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  return api(__func__, kPlain, [&](Call& call) {
    require(green != nullptr);
    *green = static_cast<CUgreenCtx>(stream_of(call, handle)->context->green);
  });
}

CUresult CUDAAPI cuStreamGetDevResource(CUstream handle, CUdevResource* out, CUdevResourceType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto& context = stream_of(call, handle)->context;
    require_type(type);
    *out = multiprocessors(context->multiprocessors != 0 ? context->multiprocessors : all_of(context->device), 1);
  });
}

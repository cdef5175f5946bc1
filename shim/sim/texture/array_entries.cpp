// SPDX-License-Identifier: Apache-2.0
// Entry points: arrays and mipmapped arrays (recorded: args_array).
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"
#include "memory/array.h"

using namespace cufault::sim;

namespace {

std::size_t element_size(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

constexpr unsigned kFlags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                            CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                            CUDA_ARRAY3D_DEFERRED_MAPPING;

void check(const Device& device, const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
  (void)element_size(wanted.Format);
  require(wanted.NumChannels == 1 || wanted.NumChannels == 2 || wanted.NumChannels == 4);
  require(wanted.Width != 0 && (wanted.Flags & ~kFlags) == 0);
  const bool layered = (wanted.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if ((wanted.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) require(layered ? wanted.Depth % 6 == 0 && wanted.Depth != 0 : wanted.Depth == 6);
  if (layered) require(wanted.Depth != 0);
  if (wanted.Height == 0 && !layered) require(wanted.Depth == 0);
  require(wanted.Width <= static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH)));
  require(wanted.Height <= static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT)));
  require(wanted.Depth <= static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH)));
}

std::shared_ptr<Array> make(Call& call, const std::shared_ptr<Context>& context, const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
  auto array = std::make_shared<Array>(context, wanted);
  array->pitch = wanted.Width * element_size(wanted.Format) * wanted.NumChannels;
  const std::size_t size = array->slice() * array->slices();
  require(size <= context->device.profile.total_memory - context->device.used_memory, CUDA_ERROR_OUT_OF_MEMORY);
  array->backing = make_backing(size);
  (void)call;
  return array;
}

CUresult create(const char* symbol, CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto context = call.current();
    require(out != nullptr && wanted != nullptr);
    check(context->device, *wanted);
    refuse_unsafe(call);
    *out = static_cast<CUarray>(call.driver.handles->insert(Kind::array, make(call, context, *wanted)));
  });
}

}  // namespace

CUresult CUDAAPI cuArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  if (wanted == nullptr) return create(__func__, out, nullptr);
  const CUDA_ARRAY3D_DESCRIPTOR full{wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0};
  return create(__func__, out, &full);
}

CUresult CUDAAPI cuArray3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* wanted) { return create(__func__, out, wanted); }

CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto& own = call.use<Array>(handle)->descriptor;
    *out = {own.Width, own.Height, own.Format, own.NumChannels};
  });
}

CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Array>(handle)->descriptor;
  });
}

CUresult CUDAAPI cuArrayGetPlane(CUarray* out, CUarray handle, unsigned int plane) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    (void)call.use<Array>(handle);
    (void)plane;
    refuse(CUDA_ERROR_INVALID_VALUE);  // recorded: none of the formats known here has planes
  });
}

CUresult CUDAAPI cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUarray handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    require((call.use<Array>(handle)->descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0);
    call.unmodelled("sparse arrays");
  });
}

CUresult CUDAAPI cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray handle, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    (void)call.driver.device(dev);
    require((call.use<Array>(handle)->descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0);
    call.unmodelled("arrays with deferred mapping");
  });
}

CUresult CUDAAPI cuArrayDestroy(CUarray handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    const auto array = call.doomed<Array>(handle);
    array->require_context();
    if (array->level) return;  // recorded: accepted, and the level lives on with its mipmapped array
    call.destroy<Array>(handle);
  });
}

CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* wanted, unsigned int levels) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current();
    require(out != nullptr && wanted != nullptr);
    check(context->device, *wanted);
    refuse_unsafe(call);
    // Recorded: 0 levels and more than there can be are accepted.
    std::size_t largest = std::max({wanted->Width, wanted->Height, (wanted->Flags & CUDA_ARRAY3D_LAYERED) != 0 ? 0 : wanted->Depth});
    unsigned most = 1;
    for (; largest > 1; largest /= 2) ++most;
    auto mipmap = std::make_shared<MipmappedArray>(context);
    CUDA_ARRAY3D_DESCRIPTOR level = *wanted;
    for (unsigned i = 0; i < std::clamp(levels, 1u, most); ++i) {
      auto array = make(call, context, level);
      array->level = true;
      mipmap->levels.push_back(call.driver.handles->insert(Kind::array, std::move(array)));
      level.Width = std::max<std::size_t>(level.Width / 2, 1);
      if (level.Height != 0) level.Height = std::max<std::size_t>(level.Height / 2, 1);
      if (level.Depth != 0 && (level.Flags & CUDA_ARRAY3D_LAYERED) == 0) level.Depth = std::max<std::size_t>(level.Depth / 2, 1);
    }
    *out = static_cast<CUmipmappedArray>(call.driver.handles->insert(Kind::mipmapped_array, std::move(mipmap)));
  });
}

CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray handle, unsigned int level) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto mipmap = call.use<MipmappedArray>(handle);
    require(level < mipmap->levels.size());
    *out = static_cast<CUarray>(mipmap->levels[level]);
  });
}

CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    call.doomed<MipmappedArray>(handle)->require_context();
    const auto mipmap = call.destroy<MipmappedArray>(handle);
    for (void* level : mipmap->levels) call.driver.handles->remove(level);
  });
}

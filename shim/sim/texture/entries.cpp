// SPDX-License-Identifier: Apache-2.0
// Entry points: texture and surface objects (recorded: args_array, no_current, ng_reset_destroy_tex_*).
#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "memory/address_space.h"
#include "memory/array.h"

using namespace cufault::sim;

namespace {

struct Texture : Owned {
  static constexpr Kind kKind = Kind::texture;
  using Owned::Owned;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
};

struct Surface : Owned {
  static constexpr Kind kKind = Kind::surface;
  using Owned::Owned;
  CUDA_RESOURCE_DESC resource{};
};

template <class T>
const void* as_handle(T number) {
  return reinterpret_cast<const void*>(number);
}

void check_resource(const Call& call, const Device& device, const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0);
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: (void)call.use<Array>(resource.res.array.hArray, CUDA_ERROR_INVALID_VALUE); break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      (void)call.use<MipmappedArray>(resource.res.mipmap.hMipmappedArray, CUDA_ERROR_INVALID_VALUE);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      require(resource.res.linear.devPtr % static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)) == 0);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      require(resource.res.pitch2D.devPtr % static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)) == 0);
      break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

// Destroying needs a current context, takes unknown numbers, and reports the fault state.
template <class T>
CUresult destroy(const char* symbol, unsigned long long number) {
  return api(symbol, kFaults, [&](Call& call) {
    (void)call.current();
    const Found found = call.driver.handles->find(as_handle(number));
    if (found.state == HandleState::live && found.kind == T::kKind)
      call.driver.handles->remove(as_handle(number));
    else if (number != 0)
      call.misuse(found.state == HandleState::destroyed ? CUFAULT_MISUSE_DOUBLE_DESTROY : CUFAULT_MISUSE_GARBAGE_HANDLE,
                  as_handle(number), std::string("not a ") + name_of(T::kKind) + " now");
  });
}

}  // namespace

CUresult CUDAAPI cuTexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                                   const CUDA_RESOURCE_VIEW_DESC* view) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    require(out != nullptr && resource != nullptr && texture != nullptr);
    check_resource(call, context->device, *resource);
    for (const CUaddress_mode mode : texture->addressMode) require(static_cast<unsigned>(mode) <= CU_TR_ADDRESS_MODE_BORDER);
    require(static_cast<unsigned>(texture->filterMode) <= CU_TR_FILTER_MODE_LINEAR);
    auto made = std::make_shared<Texture>(context);
    made->resource = *resource;
    made->texture = *texture;
    if (view != nullptr) made->view = *view;
    *out = reinterpret_cast<CUtexObject>(call.driver.handles->insert(Kind::texture, std::move(made)));
  });
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject number) { return destroy<Texture>(__func__, number); }

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject number) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Texture>(as_handle(number), CUDA_ERROR_INVALID_VALUE)->resource;
  });
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject number) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Texture>(as_handle(number), CUDA_ERROR_INVALID_VALUE)->texture;
  });
}

CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject number) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Texture>(as_handle(number), CUDA_ERROR_INVALID_VALUE)->view;
  });
}

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    require(resource != nullptr);
    if (out == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null result");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    require(resource->resType == CU_RESOURCE_TYPE_ARRAY);
    check_resource(call, context->device, *resource);
    auto made = std::make_shared<Surface>(context);
    made->resource = *resource;
    *out = reinterpret_cast<CUsurfObject>(call.driver.handles->insert(Kind::surface, std::move(made)));
  });
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject number) { return destroy<Surface>(__func__, number); }

CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject number) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Surface>(as_handle(number), CUDA_ERROR_INVALID_VALUE)->resource;
  });
}

// SPDX-License-Identifier: Apache-2.0
// Arrays, textures, surfaces, graphics resources, modules, libraries, link states and virtual memory.
#include "cufault/handles/kinds.h"

#include "cufault/handles/deferred.h"

namespace cufault::handles {

unique<array> create_array(const shared<context>& in, const CUDA_ARRAY3D_DESCRIPTOR& description) {
  return array::create(in, [&](CUarray* made) { call(driver().cuArray3DCreate, made, &description); });
}

unique<mipmapped_array> create_mipmapped_array(const shared<context>& in, const CUDA_ARRAY3D_DESCRIPTOR& description,
                                               unsigned levels) {
  return mipmapped_array::create(
      in, [&](CUmipmappedArray* made) { call(driver().cuMipmappedArrayCreate, made, &description, levels); });
}

unique<texture> create_texture(const shared<context>& in, const CUDA_RESOURCE_DESC& from,
                               const CUDA_TEXTURE_DESC& description, owners keep) {
  return texture::create(
      in, [&](CUtexObject* made) { call(driver().cuTexObjectCreate, made, &from, &description, nullptr); },
      std::move(keep));
}

unique<surface> create_surface(const shared<context>& in, const CUDA_RESOURCE_DESC& from, owners keep) {
  return surface::create(
      in, [&](CUsurfObject* made) { call(driver().cuSurfObjectCreate, made, &from); }, std::move(keep));
}

unique<code_module> load_module(const shared<context>& in, const void* image) {
  return code_module::create(in, [&](CUmodule* made) { call(driver().cuModuleLoadData, made, image); });
}

unique<library> load_library(const shared<context>& in, const void* image) {
  return library::create(in, [&](CUlibrary* made) {
    call(driver().cuLibraryLoadData, made, image, nullptr, nullptr, 0U, nullptr, nullptr, 0U);
  });
}

CUfunction function_of(const code_module& from, const char* name) {
  CUfunction found = nullptr;
  call(driver().cuModuleGetFunction, &found, from.raw(), name);
  return found;
}

CUkernel kernel_of(const library& from, const char* name) {
  CUkernel found = nullptr;
  call(driver().cuLibraryGetKernel, &found, from.raw(), name);
  return found;
}

unique<link_state> create_link(const shared<context>& in, unsigned count, CUjit_option* options, void** values) {
  return link_state::create(in, [&](CUlinkState* made) { call(driver().cuLinkCreate, count, options, values, made); });
}

unique<physical_memory> create_physical_memory(std::size_t size, const CUmemAllocationProp& properties) {
  return physical_memory::create(
      {}, [&](CUmemGenericAllocationHandle* made) { call(driver().cuMemCreate, made, size, &properties, 0ULL); });
}

unique<reservation> reservation::create(std::size_t size, std::size_t alignment) {
  drain_deferred();
  unique<reservation> made(new reservation(size));
  CUdeviceptr address = 0;
  call(driver().cuMemAddressReserve, &address, size, alignment, CUdeviceptr{0}, 0ULL);
  made->address_ = address;
  return made;
}

void reservation::destroy(cleanup& failures) noexcept {
  if (const CUdeviceptr address = std::exchange(address_, 0)) {
    failures.call("the address range is leaked", loaded_driver()->cuMemAddressFree, address, address, size_);
  }
}

unique<mapping> mapping::create(const shared<reservation>& at, const shared<physical_memory>& what, std::size_t size,
                                CUdevice device) {
  drain_deferred();
  unique<mapping> made(new mapping(at, what, size));
  call(driver().cuMemMap, at->address(), size, std::size_t{0}, what->raw(), 0ULL);
  made->address_ = at->address();
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (const failure refused =
          attempt(driver().cuMemSetAccess, made->address_, made->address_, size, &access, std::size_t{1})) {
    cuda_error error(refused);
    cleanup undoing;
    made->destroy(undoing);
    undoing.attach_to(error);
    throw error;
  }
  return made;
}

void mapping::destroy(cleanup& failures) noexcept {
  if (const CUdeviceptr address = std::exchange(address_, 0)) {
    failures.call("the memory stays mapped", loaded_driver()->cuMemUnmap, address, address, size_);
  }
}

unique<graphics_mapping> graphics_mapping::create(const shared<graphics_resource>& what, CUstream on) {
  drain_deferred();
  unique<graphics_mapping> made(new graphics_mapping(what, on));
  CUgraphicsResource raw = what->raw();
  call(driver().cuGraphicsMapResources, 1U, &raw, on);
  made->mapped_ = true;
  if (const failure lost =
          attempt(driver().cuGraphicsResourceGetMappedPointer, as_number(raw), &made->address_, &made->size_, raw)) {
    cuda_error error(lost);
    cleanup undoing;
    made->destroy(undoing);
    undoing.attach_to(error);
    throw error;
  }
  return made;
}

void graphics_mapping::destroy(cleanup& failures) noexcept {
  if (std::exchange(mapped_, false)) {
    CUgraphicsResource raw = what_->raw();
    failures.call("the graphics resource stays mapped", loaded_driver()->cuGraphicsUnmapResources, as_number(raw), 1U,
                  &raw, on_);
  }
}

}  // namespace cufault::handles

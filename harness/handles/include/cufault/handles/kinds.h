// SPDX-License-Identifier: Apache-2.0
// Arrays, textures, surfaces, graphics resources, modules, libraries, link states and physical memory.
#ifndef CUFAULT_HANDLES_KINDS_H
#define CUFAULT_HANDLES_KINDS_H

#include "cufault/handles/object.h"

namespace cufault::handles {

struct array_kind {
  using native = CUarray;
  static constexpr const char* leaked = "the array is leaked";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuArrayDestroy; }
};

struct mipmapped_array_kind {
  using native = CUmipmappedArray;
  static constexpr const char* leaked = "the mipmapped array is leaked";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuMipmappedArrayDestroy; }
};

// Handles of textures and surfaces are small numbers of their context: destroyed in another one they free a stranger's.
struct texture_kind {
  using native = CUtexObject;
  static constexpr const char* leaked = "the texture is leaked";
  static constexpr bool in_context = true;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuTexObjectDestroy; }
};

struct surface_kind {
  using native = CUsurfObject;
  static constexpr const char* leaked = "the surface is leaked";
  static constexpr bool in_context = true;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuSurfObjectDestroy; }
};

struct graphics_kind {
  using native = CUgraphicsResource;
  static constexpr const char* leaked = "the graphics resource stays registered";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuGraphicsUnregisterResource; }
};

struct module_kind {
  using native = CUmodule;
  static constexpr const char* leaked = "the module is leaked";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuModuleUnload; }
};

// Unloaded in the context it was loaded in: the owner knows it, so the policy's reason for never unloading is gone.
struct library_kind {
  using native = CUlibrary;
  static constexpr const char* leaked = "the library is leaked";
  static constexpr bool in_context = true;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuLibraryUnload; }
};

struct link_kind {
  using native = CUlinkState;
  static constexpr const char* leaked = "the link state is leaked";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuLinkDestroy; }
};

struct physical_memory_kind {
  using native = CUmemGenericAllocationHandle;
  static constexpr const char* leaked = "the physical memory is leaked";
  static constexpr bool in_context = false;
  static const auto& destroyer(const driver_table& table) noexcept { return table.cuMemRelease; }
};

using array = object<array_kind>;
using mipmapped_array = object<mipmapped_array_kind>;
using texture = object<texture_kind>;
using surface = object<surface_kind>;
using graphics_resource = object<graphics_kind>;
using code_module = object<module_kind>;
using library = object<library_kind>;
using link_state = object<link_kind>;
using physical_memory = object<physical_memory_kind>;

[[nodiscard]] unique<array> create_array(const shared<context>& in, const CUDA_ARRAY3D_DESCRIPTOR& description);
[[nodiscard]] unique<mipmapped_array> create_mipmapped_array(const shared<context>& in,
                                                             const CUDA_ARRAY3D_DESCRIPTOR& description,
                                                             unsigned levels);
// `keep` is what the description refers to: an array, a mipmapped array, a buffer.
[[nodiscard]] unique<texture> create_texture(const shared<context>& in, const CUDA_RESOURCE_DESC& from,
                                             const CUDA_TEXTURE_DESC& description, owners keep);
[[nodiscard]] unique<surface> create_surface(const shared<context>& in, const CUDA_RESOURCE_DESC& from, owners keep);

// `image`: cubin, fatbin or PTX (ended by a zero).
[[nodiscard]] unique<code_module> load_module(const shared<context>& in, const void* image);
[[nodiscard]] unique<library> load_library(const shared<context>& in, const void* image);
// A function of a module, a kernel of a library: valid as long as that is.
[[nodiscard]] CUfunction function_of(const code_module& from, const char* name);
[[nodiscard]] CUkernel kernel_of(const library& from, const char* name);

// The option arrays must outlive the link state (the driver writes logs there).
[[nodiscard]] unique<link_state> create_link(const shared<context>& in, unsigned count, CUjit_option* options,
                                             void** values);

[[nodiscard]] unique<physical_memory> create_physical_memory(std::size_t size, const CUmemAllocationProp& properties);

// A range of addresses.
class reservation final : public resource {
 public:
  [[nodiscard]] static unique<reservation> create(std::size_t size, std::size_t alignment = 0);
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  explicit reservation(std::size_t size) noexcept : size_(size) {}
  ~reservation() override = default;
  void destroy(cleanup& failures) noexcept override;

  CUdeviceptr address_ = 0;
  std::size_t size_;
};

// Physical memory mapped at the start of a reservation, readable and writable by `device`. Keeps both alive.
class mapping final : public resource {
 public:
  [[nodiscard]] static unique<mapping> create(const shared<reservation>& at, const shared<physical_memory>& what,
                                              std::size_t size, CUdevice device);
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  mapping(const shared<reservation>& at, const shared<physical_memory>& what, std::size_t size) noexcept
      : at_(at), what_(what), size_(size) {}
  ~mapping() override = default;
  void destroy(cleanup& failures) noexcept override;

  shared<reservation> at_;
  shared<physical_memory> what_;
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

// A graphics resource mapped for use by CUDA, until it is unmapped on the same stream. Keeps the resource alive.
class graphics_mapping final : public resource {
 public:
  [[nodiscard]] static unique<graphics_mapping> create(const shared<graphics_resource>& what, CUstream on);
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  graphics_mapping(const shared<graphics_resource>& what, CUstream on) noexcept : what_(what), on_(on) {}
  ~graphics_mapping() override = default;
  void destroy(cleanup& failures) noexcept override;

  shared<graphics_resource> what_;
  CUstream on_;
  bool mapped_ = false;
  CUdeviceptr address_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cufault::handles

#endif

// SPDX-License-Identifier: Apache-2.0
// Modules, libraries and their functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "context/owned.h"
#include "core/api.h"
#include "core/handles.h"
#include "memory/address_space.h"
#include "module/image.h"

namespace cufault::sim {

class Call;
class Driver;
struct Module;

// The attributes of a function that can be changed, and what is fixed by its code.
struct FunctionAttributes {
  explicit FunctionAttributes(const KernelImage& code);

  // Refuse with INVALID_VALUE.
  [[nodiscard]] int get(CUfunction_attribute which) const;
  void set(CUfunction_attribute which, int value);

  const KernelImage* kernel;
  int max_dynamic_shared;
  int carveout = -1;
  int cluster[3];
  int non_portable = 0;
  int scheduling = 0;
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
};

struct Function : Object {
  static constexpr Kind kKind = Kind::function;

  Function(std::shared_ptr<Module> owner, const KernelImage& code) : module(std::move(owner)), kernel(&code), attributes(code) {}

  const std::shared_ptr<Module> module;  // a cycle, until the module is unloaded
  const KernelImage* const kernel;
  FunctionAttributes attributes;
  CUfunction handle = nullptr;
  // cuFuncSetBlockShape and its like.
  unsigned block[3] = {1, 1, 1};
  unsigned shared = 0;
  std::vector<unsigned char> parameters;
};

struct Module : Owned, std::enable_shared_from_this<Module> {
  static constexpr Kind kKind = Kind::module;

  Module(const std::shared_ptr<Context>& owner, std::shared_ptr<const Image> what) : Owned(owner), image(std::move(what)) {}

  const std::shared_ptr<const Image> image;
  CUmodule handle = nullptr;
  bool of_library = false;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions;    // those that were asked for
  std::map<std::string, std::shared_ptr<Allocation>, std::less<>> globals;

  // Refuses with NOT_FOUND.
  [[nodiscard]] std::shared_ptr<Function> function(Driver& driver, const char* name);
};

struct Library;

struct Kernel : Object {
  static constexpr Kind kKind = Kind::kernel;

  Kernel(std::shared_ptr<Library> owner, const KernelImage& code) : library(std::move(owner)), kernel(&code), attributes(code) {}

  const std::shared_ptr<Library> library;  // a cycle, until the library is unloaded
  const KernelImage* const kernel;
  FunctionAttributes attributes;
  CUkernel handle = nullptr;
};

struct Library : Object {
  static constexpr Kind kKind = Kind::library;

  // Reads the image when it is first needed, as the recorded driver does. Refuses with what is wrong with it.
  const Image& read(Call& call);

  std::string bytes;
  std::shared_ptr<const Image> image;
  CUlibrary handle = nullptr;
  std::map<std::string, std::shared_ptr<Kernel>, std::less<>> kernels;
  std::map<std::pair<const Context*, unsigned>, std::shared_ptr<Module>> modules;  // by context and its life
};

// Makes a module in a context, with its variables.
[[nodiscard]] std::shared_ptr<Module> make_module(Call& call, const std::shared_ptr<Context>& context,
                                                  std::shared_ptr<const Image> image);
// Waits for the context's work and takes the module's functions and variables away.
void unload(Call& call, Module& module);
// The module of a library in a context.
[[nodiscard]] std::shared_ptr<Module> module_in(Call& call, Library& library, const std::shared_ptr<Context>& context);
// The function that a handle means, which may be a kernel of a library. Refuses with INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Function> function_of(Call& call, CUfunction handle);

}  // namespace cufault::sim

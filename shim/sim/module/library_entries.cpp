// SPDX-License-Identifier: Apache-2.0
// Entry points: libraries and their kernels.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "module/function.h"
#include "module/jit_options.h"

using namespace cufault::sim;

namespace {

void load(Call& call, CUlibrary* out, const void* code, unsigned jit_count, CUjit_option* jit_keys, void** jit_values,
          unsigned count, CUlibraryOption* keys, void** values) {
  const JitOptions options(call, jit_count, jit_keys, jit_values);
  if (count != 0 && (keys == nullptr || values == nullptr)) {
    call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "library options without their lists");
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  for (unsigned i = 0; i < count; ++i) require(keys[i] < CU_LIBRARY_NUM_OPTIONS);
  auto library = std::make_shared<Library>();
  library->bytes.assign(static_cast<const char*>(code), image_size(code));
  library->bytes.append(64, '\0');  // headers are read whole
  library->handle = static_cast<CUlibrary>(call.driver.handles->insert(Kind::library, library));
  *out = library->handle;
}

std::shared_ptr<Kernel> kernel_of(Call& call, const std::shared_ptr<Library>& library, const char* name) {
  const Image& image = library->read(call);
  if (const auto known = library->kernels.find(std::string_view(name)); known != library->kernels.end()) return known->second;
  const KernelImage* code = image.kernel(name);
  require(code != nullptr, CUDA_ERROR_NOT_FOUND);
  auto made = std::make_shared<Kernel>(library, *code);
  made->handle = static_cast<CUkernel>(call.driver.handles->insert(Kind::kernel, made));
  library->kernels[name] = made;
  return made;
}

}  // namespace

CUresult CUDAAPI cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option* jit_keys, void** jit_values, unsigned int jit_count,
                                   CUlibraryOption* keys, void** values, unsigned int count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && code != nullptr);
    load(call, out, code, jit_count, jit_keys, jit_values, count, keys, values);
  });
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option* jit_keys, void** jit_values,
                                       unsigned int jit_count, CUlibraryOption* keys, void** values, unsigned int count) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && path != nullptr);
    load(call, out, read_file(path).c_str(), jit_count, jit_keys, jit_values, count, keys, values);
  });
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary handle) {
  return api(__func__, {.needs_init = false}, [&](Call& call) {
    const auto library = call.destroy<Library>(handle);
    for (const auto& [name, kernel] : library->kernels) call.driver.handles->remove(kernel->handle);
    library->kernels.clear();
    for (const auto& [context, module] : library->modules) unload(call, *module);
    library->modules.clear();
  });
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && name != nullptr);
    *out = kernel_of(call, call.use<Library>(handle), name)->handle;
  });
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    *count = static_cast<unsigned>(call.use<Library>(handle)->read(call).kernels.size());
  });
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel* out, unsigned int count, CUlibrary handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto library = call.use<Library>(handle);
    const auto& kernels = library->read(call).kernels;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, kernels.size()); ++i)
      out[i] = kernel_of(call, library, kernels[i].name.c_str())->handle;
  });
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr);
    *out = module_in(call, *call.use<Library>(handle), call.current()->base())->handle;
  });
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr* address, size_t* size, CUlibrary handle, const char* name) {
  return api(__func__, kFaults, [&](Call& call) {
    require((address != nullptr || size != nullptr) && name != nullptr);
    const auto module = module_in(call, *call.use<Library>(handle), call.current()->base());
    const auto at = module->globals.find(std::string_view(name));
    require(at != module->globals.end(), CUDA_ERROR_NOT_FOUND);
    if (address != nullptr) *address = at->second->base;
    if (size != nullptr) *size = at->second->size;
  });
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr* address, size_t* size, CUlibrary handle, const char* name) {
  return api(__func__, kFaults, [&](Call& call) {
    require((address != nullptr || size != nullptr) && name != nullptr);
    const auto module = module_in(call, *call.use<Library>(handle), call.current()->base());
    const auto& globals = module->image->globals;
    const auto at = std::find_if(globals.begin(), globals.end(), [&](const GlobalImage& g) { return g.name == name && g.managed; });
    require(at != globals.end(), CUDA_ERROR_NOT_FOUND);
    const auto memory = module->globals.find(std::string_view(name));
    if (address != nullptr) *address = memory->second->base;
    if (size != nullptr) *size = memory->second->size;
  });
}

CUresult CUDAAPI cuLibraryGetUnifiedFunction(void** out, CUlibrary handle, const char* name) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && name != nullptr);
    (void)call.use<Library>(handle);
    refuse(CUDA_ERROR_INVALID_VALUE);  // recorded for a kernel; nothing else has one
  });
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction* out, CUkernel handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr);
    const auto kernel = call.use<Kernel>(handle);
    *out = module_in(call, *kernel->library, call.current()->base())->function(call.driver, kernel->kernel->name.c_str())->handle;
  });
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary* out, CUkernel handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    *out = call.use<Kernel>(handle)->library->handle;
  });
}

CUresult CUDAAPI cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto kernel = call.use<Kernel>(handle);
    (void)call.driver.device(dev);
    *value = kernel->attributes.get(attribute);
  });
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto kernel = call.use<Kernel>(handle);
    (void)call.driver.device(dev);
    kernel->attributes.set(attribute, value);
  });
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto kernel = call.use<Kernel>(handle);
    (void)call.driver.device(dev);
    require(static_cast<unsigned>(config) <= CU_FUNC_CACHE_PREFER_EQUAL);
    kernel->attributes.cache = config;
  });
}

CUresult CUDAAPI cuKernelGetName(const char** name, CUkernel handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(name != nullptr);
    *name = call.use<Kernel>(handle, CUDA_ERROR_INVALID_VALUE)->kernel->name.c_str();
  });
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size) {
  return api(__func__, kPlain, [&](Call& call) {
    require(offset != nullptr);
    const auto& parameters = call.use<Kernel>(handle, CUDA_ERROR_INVALID_VALUE)->kernel->parameters;
    require(index < parameters.size());
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
  });
}

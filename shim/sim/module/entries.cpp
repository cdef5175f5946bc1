// SPDX-License-Identifier: Apache-2.0
// Entry points: modules and their functions.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "module/function.h"
#include "module/jit_options.h"
#include "module/launch.h"

using namespace cufault::sim;

namespace {

void load(Call& call, CUmodule* out, const void* image, const JitOptions& options) {
  const auto context = call.current()->base();
  std::string log;
  try {
    *out = make_module(call, context, read_image(image, log))->handle;
  } catch (const Refusal&) {
    options.write_error(log);
    throw;
  }
}

Module& module_of(Call& call, CUmodule handle) {
  Module& module = *call.use<Module>(handle);
  return module;
}

}  // namespace

CUresult CUDAAPI cuModuleLoadData(CUmodule* out, const void* image) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && image != nullptr);
    load(call, out, image, {});
  });
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count, CUjit_option* keys, void** values) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && image != nullptr);
    load(call, out, image, JitOptions(call, count, keys, values));
  });
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* out, const void* image) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && image != nullptr);
    load(call, out, image, {});
  });
}

CUresult CUDAAPI cuModuleLoad(CUmodule* out, const char* path) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && path != nullptr);
    load(call, out, read_file(path).c_str(), {});
  });
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
  return api(__func__, {.needs_init = false, .reports_fault = true}, [&](Call& call) {
    const auto module = call.doomed<Module>(handle);
    require(module->context_alive() && !module->of_library, CUDA_ERROR_INVALID_HANDLE);
    drain(call, *module->context);
    unload(call, *module);
  });
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return api(__func__, kPlain, [&](Call& call) {
    if (mode == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null result");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    const char* wanted = std::getenv("CUDA_MODULE_LOADING");
    *mode = wanted != nullptr && std::strcmp(wanted, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && name != nullptr && *name != '\0');
    *out = module_of(call, handle).function(call.driver, name)->handle;
  });
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(count != nullptr);
    *count = static_cast<unsigned>(module_of(call, handle).image->kernels.size());
  });
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction* out, unsigned int count, CUmodule handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    Module& module = module_of(call, handle);
    const auto& kernels = module.image->kernels;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, kernels.size()); ++i)
      out[i] = module.function(call.driver, kernels[i].name.c_str())->handle;
  });
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr* address, size_t* size, CUmodule handle, const char* name) {
  return api(__func__, kFaults, [&](Call& call) {
    require((address != nullptr || size != nullptr) && name != nullptr);
    const Module& module = module_of(call, handle);
    const auto at = module.globals.find(std::string_view(name));
    if (at == module.globals.end()) {
      require(module.image->kernel(name) == nullptr);  // recorded: a function's name is another error
      refuse(CUDA_ERROR_NOT_FOUND);
    }
    if (address != nullptr) *address = at->second->base;
    if (size != nullptr) *size = at->second->size;
  });
}

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    *value = function_of(call, handle)->attributes.get(attribute);
  });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return api(__func__, kPlain, [&](Call& call) { function_of(call, handle)->attributes.set(attribute, value); });
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto function = function_of(call, handle);
    require(static_cast<unsigned>(config) <= CU_FUNC_CACHE_PREFER_EQUAL);
    function->attributes.cache = config;
  });
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)function_of(call, handle);
    require(static_cast<unsigned>(config) <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
  });
}

CUresult CUDAAPI cuFuncGetModule(CUmodule* out, CUfunction handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && handle != nullptr);
    *out = function_of(call, handle)->module->handle;
  });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(name != nullptr && handle != nullptr);
    *name = function_of(call, handle)->kernel->name.c_str();
  });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  return api(__func__, kPlain, [&](Call& call) {
    require(handle != nullptr && offset != nullptr);
    const auto& parameters = function_of(call, handle)->kernel->parameters;
    require(index < parameters.size());
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
  });
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return api(__func__, kPlain, [&](Call& call) {
    require(state != nullptr);
    (void)function_of(call, handle);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;  // recorded: PTX is loaded as a whole
  });
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle) {
  return api(__func__, kFaults, [&](Call& call) { (void)function_of(call, handle); });
}

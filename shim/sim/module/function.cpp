// SPDX-License-Identifier: Apache-2.0
// Modules and functions: making, finding, unloading; the attributes of functions (recorded: function_attributes,
// function_set_attribute).
#include "module/function.h"

#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"

namespace cufault::sim {

namespace {
constexpr int kSharedPerBlock = 49152;
constexpr int kSharedOptIn = 232448;
}  // namespace

FunctionAttributes::FunctionAttributes(const KernelImage& code)
    : kernel(&code), max_dynamic_shared(std::max(0, kSharedPerBlock - code.static_shared)) {
  std::copy(std::begin(code.cluster), std::end(code.cluster), std::begin(cluster));
}

int FunctionAttributes::get(CUfunction_attribute which) const {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return kernel->max_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return kernel->static_shared;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return kernel->constant;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return kernel->local;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return kernel->registers;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return kernel->ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return kernel->binary_version;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return max_dynamic_shared;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return kernel->cluster_must_be_set ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return cluster[0];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return cluster[1];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return cluster[2];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return non_portable;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return scheduling;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

void FunctionAttributes::set(CUfunction_attribute which, int value) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && value <= kSharedOptIn - kernel->static_shared);
      max_dynamic_shared = value;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100);
      carveout = value;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      require(value >= 0 && kernel->cluster[0] == 0);
      cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: non_portable = value != 0 ? 1 : 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      require(value >= 0 && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
      scheduling = value;
      break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

std::shared_ptr<Function> Module::function(Driver& driver, const char* name) {
  if (const auto known = functions.find(std::string_view(name)); known != functions.end()) return known->second;
  const KernelImage* kernel = image->kernel(name);
  require(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
  auto made = std::make_shared<Function>(shared_from_this(), *kernel);
  made->handle = static_cast<CUfunction>(driver.handles->insert(Kind::function, made));
  functions[name] = made;
  return made;
}

std::shared_ptr<Module> make_module(Call& call, const std::shared_ptr<Context>& context, std::shared_ptr<const Image> image) {
  auto module = std::make_shared<Module>(context, std::move(image));
  for (const GlobalImage& global : module->image->globals) {
    if (global.size == 0) continue;
    auto allocation = call.driver.memory.make(context->device, context, global.size, MemoryKind::global);
    if (!global.initial.empty())
      std::memcpy(allocation->bytes(allocation->base), global.initial.data(), std::min(global.size, global.initial.size()));
    module->globals[global.name] = allocation;
    call.driver.memory.add(std::move(allocation));
  }
  module->handle = static_cast<CUmodule>(call.driver.handles->insert(Kind::module, module));
  return module;
}

void unload(Call& call, Module& module) {
  for (const auto& [name, function] : module.functions) call.driver.handles->remove(function->handle);
  for (const auto& [name, global] : module.globals) call.driver.memory.remove(global->base);
  call.driver.handles->remove(module.handle);
  module.functions.clear();
  module.globals.clear();
}

const Image& Library::read(Call& call) {
  (void)call;
  if (image == nullptr) {
    std::string log;
    image = read_image(bytes.data(), log);
  }
  return *image;
}

std::shared_ptr<Module> module_in(Call& call, Library& library, const std::shared_ptr<Context>& context) {
  (void)library.read(call);
  std::shared_ptr<Module>& module = library.modules[{context.get(), context->life}];
  if (module == nullptr) {
    module = make_module(call, context, library.image);
    module->of_library = true;
  }
  return module;
}

std::shared_ptr<Function> function_of(Call& call, CUfunction handle) {
  const Found found = call.driver.handles->find(handle);
  if (found.state == HandleState::live && found.kind == Kind::kernel) {
    const auto* kernel = static_cast<const Kernel*>(found.object);
    const auto function = module_in(call, *kernel->library, call.current()->base())->function(call.driver, kernel->kernel->name.c_str());
    function->attributes.max_dynamic_shared = kernel->attributes.max_dynamic_shared;
    return function;
  }
  auto function = call.use<Function>(handle);
  function->module->require_context();
  return function;
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time: modules, libraries, link states, kernels, functions, occupancy.
#include <cstring>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void modules() {
  CUmodule m;
  CUfunction x;
  CUmoduleLoadingMode lm;
  CUdeviceptr p;
  unsigned k;
  std::size_t z;
  CALL(cuModuleLoad(&m, nullptr));
  CALL(cuModuleLoad(&m, "no-such-file.ptx"));
  CALL(cuModuleLoad(nullptr, "no-such-file.ptx"));
  CALL(cuModuleLoadData(nullptr, PTX));
  CALL(cuModuleLoadData(&m, nullptr));
  CALL(cuModuleLoadFatBinary(&m, nullptr));
  CALL(cuModuleLoadDataEx(&m, PTX, 1, nullptr, nullptr));
  CALL(cuModuleGetFunction(nullptr, mod, "ok"));
  CALL(cuModuleGetFunction(&x, nullptr, "ok"));
  CALL(cuModuleGetFunction(&x, mod, nullptr));
  CALL(cuModuleGetFunction(&x, mod, ""));
  CALL(cuModuleGetFunction(&x, mod, "none"));
  CALL(cuModuleGetFunction(&x, mod, "gvar"));
  CALL(cuModuleGetGlobal(nullptr, nullptr, mod, "gvar"));
  CALL(cuModuleGetGlobal(&p, nullptr, mod, "gvar"));
  CALL(cuModuleGetGlobal(nullptr, &z, mod, "gvar"));
  CALL(cuModuleGetGlobal(&p, &z, mod, nullptr));
  CALL(cuModuleGetGlobal(&p, &z, nullptr, "gvar"));
  CALL(cuModuleGetGlobal(&p, &z, mod, "ok"));
  CALL(cuModuleGetGlobal(&p, &z, mod, "none"));
  CALL(cuModuleGetFunctionCount(nullptr, mod));
  CALL(cuModuleGetFunctionCount(&k, nullptr));
  CALL(cuModuleEnumerateFunctions(nullptr, 1, mod));
  CALL(cuModuleEnumerateFunctions(&x, 0, mod));
  CALL(cuModuleGetLoadingMode(nullptr));
  CALL(cuModuleGetLoadingMode(&lm));
}

void link_states(CUlinkState ls) {
  CUlinkState l2;
  void* cub;
  std::size_t z;
  CALL(cuLinkCreate(0, nullptr, nullptr, nullptr));
  CALL(cuLinkCreate(1, nullptr, nullptr, &l2));
  using std::strlen;
  CALL(cuLinkAddData(nullptr, CU_JIT_INPUT_PTX, (void*)PTX, strlen(PTX) + 1, "a", 0, nullptr, nullptr));
  CALL(cuLinkAddData(ls, CU_JIT_INPUT_PTX, nullptr, 10, "a", 0, nullptr, nullptr));
  CALL(cuLinkAddData(ls, (CUjitInputType)77, (void*)PTX, strlen(PTX) + 1, "a", 0, nullptr, nullptr));
  CALL(cuLinkAddData(ls, CU_JIT_INPUT_PTX, (void*)PTX, 0, "a", 0, nullptr, nullptr));
  CALL(cuLinkAddFile(ls, CU_JIT_INPUT_PTX, "no-such-file.ptx", 0, nullptr, nullptr));
  CALL(cuLinkAddFile(ls, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr));
  CALL(cuLinkComplete(nullptr, &cub, &z));
  CALL(cuLinkComplete(ls, nullptr, &z));
}

void libraries(CUlibrary lib) {
  CUlibrary lb;
  CUkernel kk;
  CUmodule m;
  CUdeviceptr p;
  unsigned k;
  std::size_t z;
  CALL(cuLibraryLoadData(nullptr, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cuLibraryLoadData(&lb, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cuLibraryLoadFromFile(&lb, "no-such-file.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
  auto lo = static_cast<CUlibraryOption>(9);
  void* lv = nullptr;
  CALL(cuLibraryLoadData(&lb, PTX, nullptr, nullptr, 0, &lo, &lv, 1));
  CALL(cuLibraryLoadData(&lb, PTX, nullptr, nullptr, 0, nullptr, nullptr, 1));
  CALL(cuLibraryGetKernel(nullptr, lib, "ok"));
  CALL(cuLibraryGetKernel(&kk, nullptr, "ok"));
  CALL(cuLibraryGetKernel(&kk, lib, nullptr));
  CALL(cuLibraryGetKernel(&kk, lib, "none"));
  CALL(cuLibraryGetKernelCount(nullptr, lib));
  CALL(cuLibraryGetKernelCount(&k, nullptr));
  CALL(cuLibraryEnumerateKernels(nullptr, 1, lib));
  CALL(cuLibraryEnumerateKernels(&kk, 0, lib));
  CALL(cuLibraryGetModule(nullptr, lib));
  CALL(cuLibraryGetModule(&m, nullptr));
  CALL(cuLibraryGetGlobal(&p, &z, lib, "none"));
  CALL(cuLibraryGetGlobal(&p, &z, nullptr, "gvar"));
  CALL(cuLibraryGetGlobal(nullptr, nullptr, lib, "gvar"));
  CALL(cuLibraryGetManaged(&p, &z, lib, "gvar"));
  CALL(cuLibraryGetManaged(&p, &z, lib, "none"));
  void* uf;
  CALL(cuLibraryGetUnifiedFunction(&uf, lib, "ok"));
}

void kernels(CUkernel kn) {
  CUfunction x;
  CUlibrary lb;
  const char* c;
  int n;
  std::size_t z;
  CALL(cuKernelGetFunction(nullptr, kn));
  CALL(cuKernelGetFunction(&x, nullptr));
  CALL(cuKernelGetLibrary(nullptr, kn));
  CALL(cuKernelGetLibrary(&lb, nullptr));
  CALL(cuKernelGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, kn, dev));
  CALL(cuKernelGetAttribute(&n, (CUfunction_attribute)99, kn, dev));
  CALL(cuKernelGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, dev));
  CALL(cuKernelGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, kn, 99));
  CALL(cuKernelSetAttribute((CUfunction_attribute)99, 1, kn, dev));
  CALL(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kn, dev));
  CALL(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kn, 99));
  CALL(cuKernelSetCacheConfig(kn, (CUfunc_cache)9, dev));
  CALL(cuKernelSetCacheConfig(kn, CU_FUNC_CACHE_PREFER_L1, 99));
  CALL(cuKernelGetName(nullptr, kn));
  CALL(cuKernelGetName(&c, nullptr));
  CALL(cuKernelGetParamInfo(kn, 0, nullptr, nullptr));
  CALL(cuKernelGetParamInfo(kn, 0, &z, nullptr));
  CALL(cuKernelGetParamInfo(nullptr, 0, &z, &z));
  CALL(cuKernelGetParamInfo(kn, 4, &z, &z));
}

void functions(CUfunction f) {
  CUmodule m;
  CUfunctionLoadingState st;
  const char* c;
  int n;
  std::size_t z;
  CALL(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
  CALL(cuFuncGetAttribute(&n, (CUfunction_attribute)99, f));
  CALL(cuFuncGetAttribute(&n, (CUfunction_attribute)-1, f));
  CALL(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
  CALL(cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
  CALL(cuFuncSetAttribute(f, (CUfunction_attribute)99, 0));
  CALL(cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1));
  CALL(cuFuncSetCacheConfig(f, (CUfunc_cache)9));
  CALL(cuFuncGetModule(nullptr, f));
  CALL(cuFuncGetModule(&m, nullptr));
  CALL(cuFuncGetName(nullptr, f));
  CALL(cuFuncGetName(&c, nullptr));
  CALL(cuFuncGetParamInfo(nullptr, 0, &z, &z));
  CALL(cuFuncGetParamInfo(f, 0, &z, &z));
  CALL(cuFuncIsLoaded(nullptr, f));
  CALL(cuFuncIsLoaded(&st, nullptr));
  CALL(cuFuncLoad(nullptr));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 32, 0));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, nullptr, 32, 0));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, -1, 0));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1025, 0));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 1u << 20));
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 32, 0, 9));
  CALL(cuOccupancyMaxPotentialBlockSize(nullptr, nullptr, f, nullptr, 0, 0));
  CALL(cuOccupancyMaxPotentialBlockSize(&n, nullptr, f, nullptr, 0, 0));
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(nullptr, f, 1, 32));
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(&z, f, 0, 32));
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(&z, f, 1, 2048));
  CALL(cuOccupancyMaxPotentialClusterSize(&n, f, nullptr));
  CALL(cuOccupancyMaxActiveClusters(&n, f, nullptr));
}

void all() {
  boot();
  CUfunction f = fn("ok");
  CUlibrary lib = nullptr;
  CUkernel kn = nullptr;
  CUlinkState ls = nullptr;
  SETUP(cuLibraryLoadData(&lib, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SETUP(cuLibraryGetKernel(&kn, lib, "args"));
  SETUP(cuLinkCreate(0, nullptr, nullptr, &ls));
  modules();
  link_states(ls);
  libraries(lib);
  kernels(kn);
  functions(f);
}

}  // namespace

void add_module_arguments(CaseList& list) { list.independent("args_module", all); }

}  // namespace probe

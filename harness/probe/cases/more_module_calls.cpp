// SPDX-License-Identifier: Apache-2.0
// One good call of each function: modules, libraries, linking, kernels and functions, launches.
#include <cstring>

#include "cases/more_calls.h"

namespace probe {
namespace {

CUmoduleLoadingMode loading_mode;
CUfunctionLoadingState loading_state;
CUtexref texture_reference;

CUlaunchConfig one_thread() {
  CUlaunchConfig c{};
  c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1;
  c.hStream = t.s;
  return c;
}

const GoodCall calls[] = {
    GOOD(cuModuleLoadData(&o.mod, PTX)),
    GOOD(cuModuleLoadDataEx(&o.mod, PTX, 0, nullptr, nullptr)),
    GOOD(cuModuleGetGlobal(&o.p, &o.z, mod, "gvar")),
    GOOD(cuModuleGetFunctionCount(&o.u, mod)),
    GOOD(cuModuleEnumerateFunctions(&o.f, 1, mod)),
    GOOD(cuModuleGetLoadingMode(&loading_mode)),
    GOOD(cuLibraryLoadData(&o.lib, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)),
    GOOD(cuLibraryGetKernel(&o.k, t.lib, "ok2")),
    GOOD(cuLibraryGetKernelCount(&o.u, t.lib)),
    GOOD(cuLibraryEnumerateKernels(&o.k, 1, t.lib)),
    GOOD(cuLibraryGetModule(&o.mod, t.lib)),
    GOOD(cuLibraryGetGlobal(&o.p, &o.z, t.lib, "gvar")),
    GOOD(cuKernelGetFunction(&o.f, t.k)),
    GOOD(cuKernelGetLibrary(&o.lib, t.k)),
    GOOD(cuKernelGetName(&o.c, t.k)),
    GOOD(cuKernelGetParamInfo(t.k, 0, &o.z, &o.z2)),
    GOOD(cuKernelGetAttribute(&o.n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, t.k, dev)),
    GOOD(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, t.k, dev)),
    GOOD(cuKernelSetCacheConfig(t.k, CU_FUNC_CACHE_PREFER_NONE, dev)),
    GOOD(cuFuncGetAttribute(&o.n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, t.f)),
    GOOD(cuFuncSetAttribute(t.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)),
    GOOD(cuFuncSetCacheConfig(t.f, CU_FUNC_CACHE_PREFER_NONE)),
    GOOD(cuFuncSetSharedMemConfig(t.f, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE)),
    GOOD(cuFuncGetModule(&o.mod, t.f)),
    GOOD(cuFuncGetName(&o.c, t.f)),
    GOOD(cuFuncGetParamInfo(t.f, 0, &o.z, &o.z2)),
    GOOD(cuFuncIsLoaded(&loading_state, t.f)),
    GOOD(cuFuncLoad(t.f)),
    GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessor(&o.n, t.f, 32, 0)),
    GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&o.n, t.f, 32, 0, 0)),
    GOOD(cuOccupancyMaxPotentialBlockSize(&o.n, &o.n2, t.f, nullptr, 0, 0)),
    GOOD(cuOccupancyMaxPotentialBlockSizeWithFlags(&o.n, &o.n2, t.f, nullptr, 0, 0, 0)),
    GOOD(cuOccupancyAvailableDynamicSMemPerBlock(&o.z, t.f, 1, 32)),
    GoodCall{"cuOccupancyMaxPotentialClusterSize",
             [] { const auto c = one_thread(); return cuOccupancyMaxPotentialClusterSize(&o.n, t.f, &c); }},
    GoodCall{"cuOccupancyMaxActiveClusters",
             [] { const auto c = one_thread(); return cuOccupancyMaxActiveClusters(&o.n, t.f, &c); }},
    GOOD(cuLinkCreate(0, nullptr, nullptr, &o.ls)),
    GOOD(cuLinkAddData(r.ls, CU_JIT_INPUT_PTX, (void*)PTX, std::strlen(PTX) + 1, "a", 0, nullptr, nullptr)),
    GOOD(cuLinkComplete(r.ls, &o.v, &o.z)),
    GoodCall{"cuLaunchKernelEx", [] { const auto c = one_thread(); return cuLaunchKernelEx(&c, t.f, nullptr, nullptr); }},
    GOOD(cuLaunchCooperativeKernel(t.f, 1, 1, 1, 1, 1, 1, 0, t.s, nullptr)),
    GOOD(cuFuncSetBlockShape(t.f, 1, 1, 1)),
    GOOD(cuFuncSetSharedSize(t.f, 0)),
    GOOD(cuParamSetSize(t.f, 0)),
    GOOD(cuLaunch(t.f)),
    GOOD(cuLaunchGrid(t.f, 1, 1)),
    GOOD(cuLaunchGridAsync(t.f, 1, 1, t.s)),
    GOOD(cuTexRefCreate(&texture_reference)),
};

}  // namespace

std::span<const GoodCall> good_module_calls() { return calls; }

}  // namespace probe

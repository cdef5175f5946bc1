// SPDX-License-Identifier: Apache-2.0
// The makers that cases share.
#include "cases/fixtures.h"

#include <thread>

namespace probe {

void boot(const char* program) {
  SETUP(cuInit(0));
  SETUP(cuDeviceGet(&dev, 0));
  SETUP(cuDevicePrimaryCtxRetain(&prim, dev));
  SETUP(cuCtxSetCurrent(prim));
  SETUP(cuModuleLoadData(&mod, program));
}

CUfunction fn(const char* n, CUmodule from) {
  CUfunction f = nullptr;
  // The text of the recorded SETUP rows, which stand where a sticky fault keeps a case from finding its kernel.
  if (from == nullptr) SETUP(cuModuleGetFunction(&f, mod, n));
  else SETUP(cuModuleGetFunction(&f, from, n));
  return f;
}

CUstream stream(unsigned flags) {
  CUstream s = nullptr;
  SETUP(cuStreamCreate(&s, flags));
  return s;
}

CUevent event(unsigned flags) {
  CUevent e = nullptr;
  SETUP(cuEventCreate(&e, flags));
  return e;
}

CUdeviceptr mem(std::size_t bytes) {
  CUdeviceptr p = 0;
  SETUP(cuMemAlloc(&p, bytes));
  return p;
}

CUdeviceptr managed(std::size_t bytes) {
  CUdeviceptr p = 0;
  SETUP(cuMemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL));
  return p;
}

void* pinned(std::size_t bytes) {
  void* p = nullptr;
  SETUP(cuMemAllocHost(&p, bytes));
  return p;
}

CUcontext ctx2() {
  CUcontext c = nullptr;
  SETUP(cuCtxCreate(&c, nullptr, 0, dev));
  return c;
}

CUmodule module_of(const char* program) {
  CUmodule m = nullptr;
  SETUP(cuModuleLoadData(&m, program));
  return m;
}

CUresult launch(CUfunction f, CUstream s, void** a) { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, a, nullptr); }

void pause(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

CUmemPoolProps pool_props() {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = DEV0;
  return props;
}

CUmemoryPool pool() {
  CUmemoryPool p = nullptr;
  const CUmemPoolProps props = pool_props();
  SETUP(cuMemPoolCreate(&p, &props));
  return p;
}

CUmemoryPool default_pool() {
  CUmemoryPool p = nullptr;
  SETUP(cuDeviceGetDefaultMemPool(&p, dev));
  return p;
}

CUmemAllocationProp vmm_props() {
  CUmemAllocationProp props{};
  props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = DEV0;
  return props;
}

CUmemGenericAllocationHandle vmm_handle(std::size_t bytes, int handle_types) {
  CUmemAllocationProp props = vmm_props();
  props.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(handle_types);
  CUmemGenericAllocationHandle h = 0;
  SETUP(cuMemCreate(&h, bytes, &props, 0));
  return h;
}

CUdeviceptr reserve(std::size_t bytes) {
  CUdeviceptr p = 0;
  SETUP(cuMemAddressReserve(&p, bytes, 0, 0, 0));
  return p;
}

CUmemAccessDesc rw(CUmemAccess_flags flags) {
  CUmemAccessDesc access{};
  access.location = DEV0;
  access.flags = flags;
  return access;
}

void CUDA_CB gate_fn(void* gate) {
  while (static_cast<Gate*>(gate)->open == 0) pause(std::chrono::milliseconds{1});
}

void shut(Gate& gate, CUstream s) { SETUP(cuLaunchHostFunc(s, gate_fn, &gate)); }

void open_later(Gate& gate) {
  std::thread([&gate] {
    pause(3 * a_while);
    gate.open = 1;
  }).detach();
}

void CUDA_CB nothing(void*) {}

void CUDA_CB count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

void CUDA_CB stream_nothing(CUstream, CUresult, void*) {}

std::string who(CUcontext a, CUcontext b) {
  const auto untouched = reinterpret_cast<CUcontext>(1);
  CUcontext now = untouched;
  const std::string result = name_of(cuCtxGetCurrent(&now));
  if (now == nullptr) return result + " null";
  if (now == prim) return result + " primary";
  return result + (now == a ? " a" : now == b ? " b" : " ?");
}

std::string primary_state() {
  unsigned flags = 77;
  int active = 77;
  const CUresult result = cuDevicePrimaryCtxGetState(0, &flags, &active);
  return name_of(result) + " flags=" + std::to_string(flags) + " active=" + std::to_string(active);
}

}  // namespace probe

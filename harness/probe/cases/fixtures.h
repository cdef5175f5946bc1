// SPDX-License-Identifier: Apache-2.0
// What most cases begin with. Each maker records a SETUP row if the driver refuses.
//
// Names here are short, and some are globals, because they are part of recorded rows: `cuCtxGetDevice_v2(&d, prim)` is the
// name of a row for ever. One process runs one case, so nothing is shared.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "cases/programs.h"
#include "core/recorder.h"

namespace probe {

inline CUdevice dev = 0;          // the first device
inline CUcontext prim = nullptr;  // its primary context, retained once and current
inline CUmodule mod = nullptr;    // the program that boot() loaded

// Initialises the driver, retains the first device's primary context, makes it current, loads the program as `mod`.
void boot(const char* program = PTX);

[[nodiscard]] CUfunction fn(const char* n, CUmodule from = nullptr);  // of `mod`, unless another module is given
[[nodiscard]] CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING);
[[nodiscard]] CUevent event(unsigned flags = CU_EVENT_DEFAULT);
[[nodiscard]] CUdeviceptr mem(std::size_t bytes = 4096);
[[nodiscard]] CUdeviceptr managed(std::size_t bytes);
[[nodiscard]] void* pinned(std::size_t bytes);
CUcontext ctx2();  // a second context on the same device, which becomes the current one
[[nodiscard]] CUmodule module_of(const char* program);

// One thread of one block.
CUresult launch(CUfunction f, CUstream s = nullptr, void** a = nullptr);

void pause(std::chrono::milliseconds time);
// Long enough for a callback that the driver owes to have run.
inline constexpr std::chrono::milliseconds a_while{100};

// Memory: places, pools, virtual memory.
[[nodiscard]] constexpr CUmemLocation place(CUmemLocationType type, int id = 0) {
  CUmemLocation at{};
  at.type = type;
  at.id = id;
  return at;
}
inline constexpr CUmemLocation DEV0 = place(CU_MEM_LOCATION_TYPE_DEVICE);
inline constexpr CUmemLocation DEV99 = place(CU_MEM_LOCATION_TYPE_DEVICE, 99);
inline constexpr CUmemLocation HOST = place(CU_MEM_LOCATION_TYPE_HOST);
inline constexpr CUmemLocation NOWHERE = place(CU_MEM_LOCATION_TYPE_INVALID);
inline constexpr std::size_t MB2 = std::size_t{2} << 20;  // the recorded device's allocation granularity (a row says so)

[[nodiscard]] CUmemPoolProps pool_props();
[[nodiscard]] CUmemoryPool pool();
[[nodiscard]] CUmemoryPool default_pool();
[[nodiscard]] CUmemAllocationProp vmm_props();
[[nodiscard]] CUmemGenericAllocationHandle vmm_handle(std::size_t bytes = MB2, int handle_types = 0);
[[nodiscard]] CUdeviceptr reserve(std::size_t bytes);
[[nodiscard]] CUmemAccessDesc rw(CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE);  // for the device

// A copy with something changed: the cases' way to give one bad argument at a time.
template <class T, class Change>
[[nodiscard]] T with(T base, Change&& change) {
  change(base);
  return base;
}

// A host function that holds a stream until the gate is opened.
struct Gate {
  std::atomic<int> open{0};
};
void CUDA_CB gate_fn(void* gate);
void shut(Gate& gate, CUstream s);
// Opens the gate from another thread after a while, for calls that wait for the stream behind it.
void open_later(Gate& gate);

void CUDA_CB nothing(void*);
void CUDA_CB count_up(void* counter);  // std::atomic<int>
void CUDA_CB stream_nothing(CUstream, CUresult, void*);

// Which context is current, as text: "CUDA_SUCCESS primary", a, b, null, or ? for another one.
[[nodiscard]] std::string who(CUcontext a, CUcontext b = nullptr);
// cuDevicePrimaryCtxGetState of the first device, as text.
[[nodiscard]] std::string primary_state();

}  // namespace probe

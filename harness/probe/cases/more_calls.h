// SPDX-License-Identifier: Apache-2.0
// One good call of nearly every function, to be made in states that calls cannot leave: after a fault, with no current
// context, in a primary context that was reset.
#pragma once

#include <cuda.h>

#include <span>

#include "cases/fixtures.h"
#include "cases/objects.h"

namespace probe {

// What the calls work on. As everywhere in the cases, the short names belong to recorded rows.
struct MoreObjects {
  CUfunction f{};
  CUkernel k{};
  CUlibrary lib{};     // that k belongs to
  CUstream s{};
  CUevent e{}, e2{};   // recorded on s, with timing
  CUevent ip{};        // between processes
  CUgraph g{};         // with one node of each of the following kinds, and its executable
  CUgraphExec x{};
  CUgraphNode empty{}, kern{}, mset{}, copy{}, host{}, record{}, wait{}, child{};
  CUdeviceptr p{}, q{};  // cuMemAlloc, 64 KiB each
  CUdeviceptr m{};       // managed, 64 KiB
  CUdeviceptr a{};       // cuMemAllocAsync
  void* raw{};           // pageable, page-aligned, 64 KiB
  void* h{};             // pinned, 64 KiB
  CUarray arr{};
  CUstream capturing{};  // made by the calls that need one
};

// Where the calls write what they find out.
struct Outputs {
  CUdeviceptr p{};
  void* v{};
  const void* cv{};
  const char* c{};
  char text[256]{};
  int n{}, n2{};
  unsigned u{}, u2{};
  float ms{};
  unsigned long long ull{};
  cuuint64_t u64{};
  std::size_t z{1}, z2{};  // some calls take a size and give one
  CUdevice dev{};
  CUcontext ctx{};
  CUgreenCtx gc{};
  CUstream s{};
  CUevent e{};
  CUmodule mod{};
  CUfunction f{};
  CUkernel k{};
  CUlibrary lib{};
  CUlinkState ls{};
  CUgraph g{};
  CUgraphNode node{};
  CUgraphExec x{};
  CUarray arr{};
  CUmipmappedArray mip{};
  CUtexObject tex{};
  CUsurfObject surf{};
  CUmemoryPool pool{};
  CUuserObject uo{};
  CUmemGenericAllocationHandle vh{};
  CUuuid uuid{};
  CUipcMemHandle im{};
  CUipcEventHandle ie{};
  CUdevResource res{};
  CUdevResourceDesc desc{};
};

inline Objects r;
inline MoreObjects t;
inline Outputs o;

struct GoodCall {
  const char* text;
  CUresult (*make)();
};

#define GOOD(...) \
  GoodCall { #__VA_ARGS__, [] { return (__VA_ARGS__); } }

[[nodiscard]] std::span<const GoodCall> good_device_calls();
[[nodiscard]] std::span<const GoodCall> good_memory_calls();
[[nodiscard]] std::span<const GoodCall> good_stream_calls();
[[nodiscard]] std::span<const GoodCall> good_graph_calls();
[[nodiscard]] std::span<const GoodCall> good_module_calls();

}  // namespace probe

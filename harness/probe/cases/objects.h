// SPDX-License-Identifier: Apache-2.0
// One object of every kind, for cases about destroying them all in some state.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace probe {

// The members' names are part of recorded rows.
struct Objects {
  CUstream st{};
  CUevent ev{};
  CUdeviceptr dp{};   // cuMemAlloc
  CUdeviceptr dpa{};  // from `pool`, on `st`
  CUmemoryPool pool{};
  CUgraph g{};   // with the node `n`
  CUgraph g2{};  // empty
  CUgraphExec ge{};
  CUgraphNode n{};
  CUarray arr{};
  CUmipmappedArray mip{};
  CUtexObject tex{};
  CUsurfObject surf{};
  CUlinkState ls{};
  void* host{};
  CUmodule m2{};
  CUlibrary lib{};
  CUuserObject uo{};
  CUgreenCtx gc{};
  CUdeviceptr va{};  // reserved, with `vh` mapped
  CUmemGenericAllocationHandle vh{};
  std::size_t gran{};
};

// A live green context keeps the primary context from being reset.
enum class Green { without, with };

void make(Objects& r, Green green);
void destroy_all(Objects& r);

// The destroy call of one kind of object, or the three of virtual memory.
struct Destroyer {
  std::string_view kind;
  void (*destroy)(Objects& r);
};
[[nodiscard]] std::span<const Destroyer> destroyers();

}  // namespace probe

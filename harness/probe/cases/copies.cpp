// SPDX-License-Identifier: Apache-2.0
// Copies and fills: ranges, zero bytes, rows and planes, batches, alignment, kinds of memory.
#include <cstdlib>
#include <vector>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void out_of_range() {
  boot();
  CUdeviceptr p = mem(1000);
  CUdeviceptr big = mem(3 * MB2);
  void* h = std::malloc(16 << 20);
  CUstream s = stream();
  CALL(cuMemcpyDtoH(h, p, 1001));
  CALL(cuMemcpyDtoH(h, p, 4096));
  CALL(cuMemcpyDtoH(h, p, 8u << 20));
  CALL(cuMemcpyHtoD(big, h, 3 * MB2 + 1));
  CALL(cuMemcpyDtoH(h, big, 3 * MB2 + 1));
  CALL(cuMemcpyDtoH(h, big + 3 * MB2 - 4, 8));
  CALL(cuMemcpyDtoD(big, big + 3 * MB2 - 4, 8));
  CALL(cuMemsetD8(big + 3 * MB2 - 4, 0, 8));
  CALL(cuMemsetD8Async(big, 0, 3 * MB2 + 1, s));
  CALL(cuMemcpyDtoHAsync(h, big, 3 * MB2 + 1, s));
  CALL(cuMemcpyAsync(big, (CUdeviceptr)h, 3 * MB2 + 1, s));
  CALL(cuMemcpyDtoH(h, big, ~0ull));
  CALL(cuCtxSynchronize());
}

void zero_bytes() {
  boot();
  CUdeviceptr p = mem();
  char h[64];
  CUstream s = stream();
  CALL(cuMemcpyHtoD(p, h, 0));
  CALL(cuMemcpyHtoD(0, h, 0));
  CALL(cuMemcpyHtoD(p, nullptr, 0));
  CALL(cuMemcpyHtoD(0x10, (void*)0x10, 0));
  CALL(cuMemcpyDtoH(h, p, 0));
  CALL(cuMemcpyDtoH(nullptr, 0, 0));
  CALL(cuMemcpyDtoD(p, p, 0));
  CALL(cuMemcpyDtoD(0, 0, 0));
  CALL(cuMemcpy(0, 0, 0));
  CALL(cuMemcpyAsync(0, 0, 0, s));
  CALL(cuMemcpyHtoDAsync(0, nullptr, 0, s));
  CALL(cuMemsetD8(p, 0, 0));
  CALL(cuMemsetD8(0, 0, 0));
  CALL(cuMemsetD32(p + 1, 0, 0));
  CALL(cuMemsetD32Async(0, 0, 0, s));
  CALL(cuMemsetD2D8(p, 0, 0, 0, 0));
  CALL(cuMemsetD2D8(p, 16, 0, 16, 0));
  CALL(cuMemcpyPeer(p, prim, p, prim, 0));
  const CUDA_MEMCPY2D rows{};
  const CUDA_MEMCPY3D planes{};
  STEP("cuMemcpy2D all zero", cuMemcpy2D(&rows));
  STEP("cuMemcpy3D all zero", cuMemcpy3D(&planes));
  CALL(cuCtxSynchronize());
}

void rows(CUdeviceptr p, void* host) {
  CUDA_MEMCPY2D good{};
  good.srcMemoryType = CU_MEMORYTYPE_HOST;
  good.srcHost = host;
  good.srcPitch = 256;
  good.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  good.dstDevice = p;
  good.dstPitch = 256;
  good.WidthInBytes = 64;
  good.Height = 4;
  const auto t = [&](const char* what, auto change) {
    const auto params = with(good, change);
    STEP(what, cuMemcpy2D(&params));
  };
  t("good", [](auto&) {});
  t("src pitch below width", [](auto& c) { c.srcPitch = 32; });
  t("dst pitch below width", [](auto& c) { c.dstPitch = 32; });
  t("pitches 0", [](auto& c) { c.srcPitch = c.dstPitch = 0; });
  t("pitches 0 and height 1", [](auto& c) { c.srcPitch = c.dstPitch = 0, c.Height = 1; });
  t("src memory type 0", [](auto& c) { c.srcMemoryType = static_cast<CUmemorytype>(0); });
  t("src memory type 9", [](auto& c) { c.srcMemoryType = static_cast<CUmemorytype>(9); });
  t("array type without an array", [](auto& c) { c.srcMemoryType = CU_MEMORYTYPE_ARRAY; });
  t("width 0", [](auto& c) { c.WidthInBytes = 0; });
  t("height 0", [](auto& c) { c.Height = 0; });
  t("dst x beyond the pitch", [](auto& c) { c.dstXInBytes = 200; });
  t("null host source", [](auto& c) { c.srcHost = nullptr; });
  t("null device destination", [](auto& c) { c.dstDevice = 0; });
  t("unified with a host pointer", [&](auto& c) {
    c.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    c.srcDevice = (CUdeviceptr)host;
  });
  t("pitch over the maximum", [](auto& c) { c.dstPitch = 1ull << 32, c.Height = 1; });
  t("rows beyond the allocation", [](auto& c) { c.dstPitch = 1 << 22, c.Height = 4; });
  t("odd pitch", [](auto& c) { c.dstPitch = 67; });
  CUDA_MEMCPY2D u = good;
  u.srcPitch = 32;
  CALL(cuMemcpy2DUnaligned(&u));
  u = good;
  CALL(cuMemcpy2DUnaligned(&u));
  CALL(cuMemcpy2DAsync(&u, nullptr));
}

void planes(CUdeviceptr p, CUdeviceptr q, void* host) {
  CUDA_MEMCPY3D good{};
  good.srcMemoryType = good.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  good.srcDevice = q;
  good.dstDevice = p;
  good.srcPitch = good.dstPitch = 256;
  good.srcHeight = good.dstHeight = 4;
  good.WidthInBytes = 64;
  good.Height = 4;
  good.Depth = 4;
  const auto t = [&](const char* what, auto change) {
    const auto params = with(good, change);
    STEP(what, cuMemcpy3D(&params));
  };
  t("3D good", [](auto&) {});
  t("3D depth 0", [](auto& c) { c.Depth = 0; });
  t("3D src height below height", [](auto& c) { c.srcHeight = 2; });
  t("3D src height 0", [](auto& c) { c.srcHeight = 0; });
  t("3D pitch below width", [](auto& c) { c.dstPitch = 8; });
  t("3D reserved pointer set", [&](auto& c) { c.reserved0 = host; });
  t("3D lod 1 without an array", [](auto& c) { c.srcLOD = 1; });
  t("3D beyond the allocation", [](auto& c) { c.dstZ = 1000; });
  CUDA_MEMCPY3D_PEER peer{};
  peer.srcMemoryType = peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.srcDevice = q;
  peer.dstDevice = p;
  peer.srcPitch = peer.dstPitch = 256;
  peer.srcHeight = peer.dstHeight = 4;
  peer.WidthInBytes = 64;
  peer.Height = peer.Depth = 1;
  STEP("3D peer without contexts", cuMemcpy3DPeer(&peer));
  peer.srcContext = peer.dstContext = prim;
  STEP("3D peer same context", cuMemcpy3DPeer(&peer));
}

void rows_and_planes() {
  boot();
  CUdeviceptr p = mem(65536);
  CUdeviceptr q = mem(65536);
  std::vector<char> host(65536);
  rows(p, host.data());
  planes(p, q, host.data());
}

void batches() {
  boot();
  CUstream s = stream();
  CUdeviceptr a = mem();
  CUdeviceptr b = mem();
  CUdeviceptr ds[] = {a, a + 64};
  CUdeviceptr ss[] = {b, b + 64};
  std::size_t sz[] = {64, 64};
  std::size_t ix[] = {0, 1};
  std::size_t bad[] = {1, 0};
  CUmemcpyAttributes at[2]{};
  at[0].srcAccessOrder = at[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 1, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 2, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 0, at, ix, 1, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 0, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, nullptr, ix, 1, s));
  CALL(cuMemcpyBatchAsync(nullptr, ss, sz, 2, at, ix, 1, s));
  CALL(cuMemcpyBatchAsync(ds, ss, nullptr, 2, at, ix, 1, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, bad, 2, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 1, at, ix, 2, s));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 1, nullptr));
  CALL(cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 1, CU_STREAM_PER_THREAD));
  CUmemcpyAttributes no_order{};
  STEP("access order 0", cuMemcpyBatchAsync(ds, ss, sz, 2, &no_order, ix, 1, s));
  sz[0] = 0;
  STEP("one size 0", cuMemcpyBatchAsync(ds, ss, sz, 2, at, ix, 1, s));
  CALL(cuMemcpy3DBatchAsync(0, nullptr, 0, s));
  CALL(cuMemcpy3DBatchAsync(1, nullptr, 0, s));
  CALL(cuMemPrefetchBatchAsync(ds, sz, 0, nullptr, nullptr, 0, 0, s));
  CALL(cuMemDiscardBatchAsync(ds, sz, 1, 0, s));
  CALL(cuStreamSynchronize(s));
}

void set_alignment() {
  boot();
  CUdeviceptr p = mem(65536);
  CUstream s = stream();
  CALL(cuMemsetD8(p + 1, 1, 3));
  CALL(cuMemsetD16(p + 1, 1, 2));
  CALL(cuMemsetD16(p + 2, 1, 2));
  CALL(cuMemsetD32(p + 1, 1, 2));
  CALL(cuMemsetD32(p + 2, 1, 2));
  CALL(cuMemsetD32Async(p + 2, 1, 2, s));
  CALL(cuMemsetD2D8(p, 100, 1, 64, 4));
  CALL(cuMemsetD2D8(p, 32, 1, 64, 4));
  CALL(cuMemsetD2D8(p, 32, 1, 64, 1));
  CALL(cuMemsetD2D8(p, 0, 1, 64, 1));
  CALL(cuMemsetD2D16(p, 101, 1, 32, 4));
  CALL(cuMemsetD2D32(p, 102, 1, 16, 4));
  CALL(cuMemsetD2D32(p + 2, 128, 1, 16, 4));
  CALL(cuMemsetD2D32(p, 128, 1, 16, 4));
  CALL(cuMemsetD2D32(p, 128, 1, 16, 1 << 20));
  char heap[64];
  STEP("cuMemsetD8 of heap memory", cuMemsetD8((CUdeviceptr)heap, 0, 4));
  void* pin = pinned(64);
  STEP("cuMemsetD8 of pinned memory", cuMemsetD8((CUdeviceptr)pin, 0, 4));
  CALL(cuCtxSynchronize());
}

void kinds() {
  boot();
  CUdeviceptr p = mem();
  CUdeviceptr m = managed(4096);
  char h[64];
  const auto heap = (CUdeviceptr)h;
  const auto heap2 = (CUdeviceptr)(h + 32);
  const auto pin = (CUdeviceptr)pinned(4096);
  STEP("cuMemcpy heap to heap", cuMemcpy(heap, heap2, 16));
  STEP("cuMemcpy heap to device", cuMemcpy(p, heap, 16));
  STEP("cuMemcpy device to heap", cuMemcpy(heap, p, 16));
  STEP("cuMemcpyHtoD with a device source", cuMemcpyHtoD(p, (void*)(p + 64), 16));
  STEP("cuMemcpyHtoD with a heap destination", cuMemcpyHtoD(heap, h + 32, 16));
  STEP("cuMemcpyDtoH with a heap source", cuMemcpyDtoH(h, heap2, 16));
  STEP("cuMemcpyDtoD with a heap source", cuMemcpyDtoD(p, heap, 16));
  STEP("cuMemcpyDtoD with a pinned source", cuMemcpyDtoD(p, pin, 16));
  STEP("cuMemcpyHtoD with a managed destination", cuMemcpyHtoD(m, h, 16));
  STEP("cuMemcpyDtoH with a device destination", cuMemcpyDtoH((void*)p, p + 64, 16));
  STEP("overlapping cuMemcpyDtoD", cuMemcpyDtoD(p, p + 8, 64));
  STEP("cuMemcpyPeer same context", cuMemcpyPeer(p, prim, p + 64, prim, 16));
  CALL(cuCtxSynchronize());
}

void no_memory_left() {
  boot();
  CUdeviceptr p = 5;
  std::size_t pi;
  CUstream s = stream();
  CALL(cuMemAlloc(&p, ~0ull));
  CALL(cuMemAlloc(&p, 1ull << 63));
  STEP("out parameter untouched", p == 5);
  CALL(cuMemAllocPitch(&p, &pi, 1ull << 40, 1 << 10, 4));
  CALL(cuMemAllocAsync(&p, 1ull << 45, s));
  STEP("pool: out parameter untouched", p == 5);
  STEP("pool: out parameter null", p == 0);
  CUmemGenericAllocationHandle h;
  const CUmemAllocationProp vp = vmm_props();
  CALL(cuMemCreate(&h, 1ull << 45, &vp, 0));
  CALL(cuStreamSynchronize(s));
  CALL(cuCtxSynchronize());
  CALL(cuMemAlloc(&p, 64));
}

void alignment() {
  boot();
  CUdeviceptr p = mem(1);
  CUdeviceptr q = mem(3);
  STEP("256-byte aligned", p % 256 == 0 && q % 256 == 0);
  std::size_t pi = 0;
  CUdeviceptr r;
  CALL(cuMemAllocPitch(&r, &pi, 1, 1, 4));
  STEP("pitch of width 1", pi);
  CALL(cuMemAllocPitch(&r, &pi, 513, 2, 16));
  STEP("pitch of width 513", pi);
}

}  // namespace

void add_copies(CaseList& list) {
  list.independent("copy_out_of_range", out_of_range);
  list.independent("copy_zero_bytes", zero_bytes);
  list.independent("copy_2d_3d", rows_and_planes);
  list.independent("copy_batch", batches);
  list.independent("set_alignment", set_alignment);
  list.independent("copy_kinds", kinds);
  list.independent("out_of_memory", no_memory_left);
  list.chained("alloc_alignment", alignment);
}

}  // namespace probe

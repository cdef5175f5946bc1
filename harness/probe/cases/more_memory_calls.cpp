// SPDX-License-Identifier: Apache-2.0
// One good call of each function: memory of every kind, pools, virtual memory, arrays, textures.
#include "cases/more_calls.h"

namespace probe {
namespace {

CUDA_MEMCPY2D rows() {
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = t.p;
  c.dstDevice = t.q;
  c.srcPitch = c.dstPitch = 256;
  c.WidthInBytes = 64;
  c.Height = 4;
  return c;
}

CUDA_MEMCPY3D planes() {
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = t.p;
  c.dstDevice = t.q;
  c.srcPitch = c.dstPitch = 256;
  c.srcHeight = c.dstHeight = 4;
  c.WidthInBytes = 64;
  c.Height = 4;
  c.Depth = 2;
  return c;
}

CUDA_MEMCPY3D_PEER peer_planes() {
  CUDA_MEMCPY3D_PEER c{};
  c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = t.p;
  c.dstDevice = t.q;
  c.srcPitch = c.dstPitch = 256;
  c.srcHeight = c.dstHeight = 4;
  c.WidthInBytes = 64;
  c.Height = c.Depth = 1;
  c.srcContext = c.dstContext = prim;
  return c;
}

CUDA_ARRAY_DESCRIPTOR shape() {
  CUDA_ARRAY_DESCRIPTOR d{};
  d.Width = d.Height = 64;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  return d;
}

CUDA_ARRAY3D_DESCRIPTOR shape3() {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = d.Height = 64;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  return d;
}

CUDA_RESOURCE_DESC resource() {
  CUDA_RESOURCE_DESC d{};
  d.resType = CU_RESOURCE_TYPE_ARRAY;
  d.res.array.hArray = r.arr;
  return d;
}

CUmemAccessDesc access = rw();
const int yes = 1;
CUmemLocation device_place = DEV0;
CUmemAccess_flags access_flags;
CUDA_ARRAY_DESCRIPTOR got_shape;
CUDA_ARRAY3D_DESCRIPTOR got_shape3;
CUDA_ARRAY_SPARSE_PROPERTIES sparse;
CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
CUDA_RESOURCE_DESC got_resource;
CUDA_TEXTURE_DESC got_sampling;
CUmemAllocationProp got_props;
CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
CUmem_range_attribute range_attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
void* results[] = {&o.u};
std::size_t result_sizes[] = {4};

CUmemcpyAttributes stream_order() {
  CUmemcpyAttributes a{};
  a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return a;
}

CUresult batch() {
  CUmemcpyAttributes order = stream_order();
  std::size_t bytes = 64;
  std::size_t first = 0;
  return cuMemcpyBatchAsync(&t.q, &t.p, &bytes, 1, &order, &first, 1, t.s);
}

// What structures point to lives until the call is over, so each of these is one expression.
const GoodCall calls[] = {
    GOOD(cuMemAllocPitch(&o.p, &o.z, 64, 4, 4)),
    GOOD(cuMemAllocAsync(&o.p, 64, t.s)),
    GOOD(cuMemAllocFromPoolAsync(&o.p, 64, r.pool, t.s)),
    GOOD(cuMemAllocHost(&o.v, 64)),
    GOOD(cuMemHostAlloc(&o.v, 64, 0)),
    GOOD(cuMemAllocManaged(&o.p, 64, CU_MEM_ATTACH_GLOBAL)),
    GOOD(cuMemHostRegister(t.raw, 4096, 0)),
    GOOD(cuMemHostUnregister(t.raw)),
    GOOD(cuMemHostGetDevicePointer(&o.p, t.h, 0)),
    GOOD(cuMemHostGetFlags(&o.u, t.h)),
    GOOD(cuMemGetAddressRange(&o.p, &o.z, t.p)),
    GOOD(cuPointerGetAttribute(&o.u, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, t.p)),
    GOOD(cuPointerGetAttributes(1, attributes, results, t.p)),
    GOOD(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, t.p)),
    GOOD(cuMemcpy(t.q, t.p, 64)),
    GOOD(cuMemcpyAsync(t.q, t.p, 64, t.s)),
    GOOD(cuMemcpyDtoD(t.q, t.p, 64)),
    GOOD(cuMemcpyDtoDAsync(t.q, t.p, 64, t.s)),
    GOOD(cuMemcpyHtoD(t.p, t.h, 64)),
    GOOD(cuMemcpyHtoDAsync(t.p, t.h, 64, t.s)),
    GOOD(cuMemcpyDtoHAsync(t.h, t.p, 64, t.s)),
    GOOD(cuMemcpyPeer(t.q, prim, t.p, prim, 64)),
    GOOD(cuMemcpyPeerAsync(t.q, prim, t.p, prim, 64, t.s)),
    GOOD(cuMemcpyHtoA(r.arr, 0, t.h, 64)),
    GOOD(cuMemcpyHtoAAsync(r.arr, 0, t.h, 64, t.s)),
    GOOD(cuMemcpyAtoH(t.h, r.arr, 0, 64)),
    GOOD(cuMemcpyAtoHAsync(t.h, r.arr, 0, 64, t.s)),
    GOOD(cuMemcpyDtoA(r.arr, 0, t.p, 64)),
    GOOD(cuMemcpyAtoD(t.p, r.arr, 0, 64)),
    GOOD(cuMemcpyAtoA(r.arr, 0, t.arr, 0, 64)),
    GoodCall{"cuMemcpy2D", [] { const auto c = rows(); return cuMemcpy2D(&c); }},
    GoodCall{"cuMemcpy2DUnaligned", [] { const auto c = rows(); return cuMemcpy2DUnaligned(&c); }},
    GoodCall{"cuMemcpy2DAsync", [] { const auto c = rows(); return cuMemcpy2DAsync(&c, t.s); }},
    GoodCall{"cuMemcpy3D", [] { const auto c = planes(); return cuMemcpy3D(&c); }},
    GoodCall{"cuMemcpy3DAsync", [] { const auto c = planes(); return cuMemcpy3DAsync(&c, t.s); }},
    GoodCall{"cuMemcpy3DPeer", [] { const auto c = peer_planes(); return cuMemcpy3DPeer(&c); }},
    GoodCall{"cuMemcpy3DPeerAsync", [] { const auto c = peer_planes(); return cuMemcpy3DPeerAsync(&c, t.s); }},
    GoodCall{"cuMemcpyBatchAsync", batch},
    GOOD(cuMemsetD8(t.p, 1, 64)),
    GOOD(cuMemsetD16(t.p, 1, 64)),
    GOOD(cuMemsetD32(t.p, 1, 64)),
    GOOD(cuMemsetD8Async(t.p, 1, 64, t.s)),
    GOOD(cuMemsetD16Async(t.p, 1, 64, t.s)),
    GOOD(cuMemsetD32Async(t.p, 1, 64, t.s)),
    GOOD(cuMemsetD2D8(t.p, 256, 1, 64, 4)),
    GOOD(cuMemsetD2D16(t.p, 256, 1, 64, 4)),
    GOOD(cuMemsetD2D32(t.p, 256, 1, 64, 4)),
    GOOD(cuMemsetD2D8Async(t.p, 256, 1, 64, 4, t.s)),
    GOOD(cuMemsetD2D16Async(t.p, 256, 1, 64, 4, t.s)),
    GOOD(cuMemsetD2D32Async(t.p, 256, 1, 64, 4, t.s)),
    GOOD(cuMemPrefetchAsync(t.m, 4096, DEV0, 0, t.s)),
    GOOD(cuMemAdvise(t.m, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, DEV0)),
    GOOD(cuMemRangeGetAttribute(&o.n, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, t.m, 4096)),
    GOOD(cuMemRangeGetAttributes(results, result_sizes, range_attributes, 1, t.m, 4096)),
    GoodCall{"cuMemPoolCreate", [] { const auto props = pool_props(); return cuMemPoolCreate(&o.pool, &props); }},
    GOOD(cuMemPoolGetAttribute(r.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &o.u64)),
    GOOD(cuMemPoolSetAttribute(r.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &o.u64)),
    GOOD(cuMemPoolTrimTo(r.pool, 0)),
    GOOD(cuMemPoolSetAccess(r.pool, &access, 1)),
    GOOD(cuMemPoolGetAccess(&access_flags, r.pool, &device_place)),
    GOOD(cuMemGetDefaultMemPool(&o.pool, &device_place, CU_MEM_ALLOCATION_TYPE_PINNED)),
    GOOD(cuMemGetMemPool(&o.pool, &device_place, CU_MEM_ALLOCATION_TYPE_PINNED)),
    GOOD(cuMemSetMemPool(&device_place, CU_MEM_ALLOCATION_TYPE_PINNED, r.pool)),
    GOOD(cuMemAddressReserve(&o.p, MB2, 0, 0, 0)),
    GoodCall{"cuMemCreate", [] { const auto props = vmm_props(); return cuMemCreate(&o.vh, MB2, &props, 0); }},
    GOOD(cuMemMap(r.va, r.gran, 0, r.vh, 0)),
    GOOD(cuMemSetAccess(r.va, r.gran, &access, 1)),
    GOOD(cuMemGetAccess(&o.ull, &DEV0, r.va)),
    GOOD(cuMemRetainAllocationHandle(&o.vh, (void*)r.va)),
    GOOD(cuMemGetAllocationPropertiesFromHandle(&got_props, r.vh)),
    GoodCall{"cuMemGetAllocationGranularity",
             [] {
               const auto props = vmm_props();
               return cuMemGetAllocationGranularity(&o.z, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
             }},
    GoodCall{"cuArrayCreate", [] { const auto d = shape(); return cuArrayCreate(&o.arr, &d); }},
    GoodCall{"cuArray3DCreate", [] { const auto d = shape3(); return cuArray3DCreate(&o.arr, &d); }},
    GoodCall{"cuMipmappedArrayCreate", [] { const auto d = shape3(); return cuMipmappedArrayCreate(&o.mip, &d, 2); }},
    GOOD(cuArrayGetDescriptor(&got_shape, r.arr)),
    GOOD(cuArray3DGetDescriptor(&got_shape3, r.arr)),
    GOOD(cuArrayGetPlane(&o.arr, r.arr, 0)),
    GOOD(cuArrayGetSparseProperties(&sparse, r.arr)),
    GOOD(cuArrayGetMemoryRequirements(&needs, r.arr, dev)),
    GOOD(cuMipmappedArrayGetLevel(&o.arr, r.mip, 0)),
    GOOD(cuMipmappedArrayGetSparseProperties(&sparse, r.mip)),
    GOOD(cuMipmappedArrayGetMemoryRequirements(&needs, r.mip, dev)),
    GoodCall{"cuTexObjectCreate",
             [] {
               const auto d = resource();
               const CUDA_TEXTURE_DESC sampling{};
               return cuTexObjectCreate(&o.tex, &d, &sampling, nullptr);
             }},
    GoodCall{"cuSurfObjectCreate", [] { const auto d = resource(); return cuSurfObjectCreate(&o.surf, &d); }},
    GOOD(cuTexObjectGetResourceDesc(&got_resource, r.tex)),
    GOOD(cuTexObjectGetTextureDesc(&got_sampling, r.tex)),
    GOOD(cuSurfObjectGetResourceDesc(&got_resource, r.surf)),
};

}  // namespace

std::span<const GoodCall> good_memory_calls() { return calls; }

}  // namespace probe

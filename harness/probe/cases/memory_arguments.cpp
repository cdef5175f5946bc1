// SPDX-License-Identifier: Apache-2.0
// One bad argument at a time: plain memory, arrays and textures, pools and virtual memory.
#include <cstdlib>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void memory() {
  boot();
  CUdeviceptr p = mem();
  CUdeviceptr q;
  std::size_t a;
  unsigned k;
  void* raw = std::aligned_alloc(4096, 8192);
  void* h = pinned(4096);
  void* h2 = nullptr;
  CUstream s = stream();
  CALL(cuMemAlloc(nullptr, 4));
  CALL(cuMemGetInfo(nullptr, &a));
  CALL(cuMemGetInfo(&a, nullptr));
  CALL(cuMemAllocPitch(nullptr, &a, 16, 16, 4));
  CALL(cuMemAllocPitch(&q, nullptr, 16, 16, 4));
  CALL(cuMemAllocPitch(&q, &a, 16, 16, 3));
  CALL(cuMemAllocPitch(&q, &a, 16, 16, 0));
  CALL(cuMemAllocPitch(&q, &a, 0, 16, 4));
  CALL(cuMemAllocPitch(&q, &a, 16, 0, 4));
  CALL(cuMemAllocPitch(&q, &a, 16, 16, 2));
  CALL(cuMemGetAddressRange(&q, &a, 0));
  CALL(cuMemGetAddressRange(nullptr, nullptr, p));
  CALL(cuMemAllocHost(nullptr, 4));
  CALL(cuMemAllocHost(&h2, 0));
  CALL(cuMemHostAlloc(&h2, 64, 0xFF));
  CALL(cuMemHostAlloc(&h2, 0, 0));
  CALL(cuMemHostAlloc(nullptr, 64, 0));
  CALL(cuMemHostGetDevicePointer(nullptr, h, 0));
  CALL(cuMemHostGetDevicePointer(&q, h, 1));
  CALL(cuMemHostGetDevicePointer(&q, nullptr, 0));
  CALL(cuMemHostGetDevicePointer(&q, raw, 0));
  CALL(cuMemHostGetFlags(nullptr, h));
  CALL(cuMemHostGetFlags(&k, nullptr));
  CALL(cuMemHostGetFlags(&k, raw));
  CALL(cuMemAllocManaged(nullptr, 64, CU_MEM_ATTACH_GLOBAL));
  CALL(cuMemAllocManaged(&q, 0, CU_MEM_ATTACH_GLOBAL));
  CALL(cuMemAllocManaged(&q, 64, 0));
  CALL(cuMemAllocManaged(&q, 64, CU_MEM_ATTACH_SINGLE));
  CALL(cuMemAllocManaged(&q, 64, 3));
  CALL(cuMemHostRegister(nullptr, 64, 0));
  CALL(cuMemHostRegister(raw, 0, 0));
  CALL(cuMemHostRegister(raw, 64, 0xFF));
  CALL(cuMemHostUnregister(nullptr));
  CALL(cuMemHostUnregister(raw));
  CALL(cuMemcpyHtoD(0, raw, 4));
  CALL(cuMemcpyHtoD(p, nullptr, 4));
  CALL(cuMemcpyDtoH(nullptr, p, 4));
  CALL(cuMemcpyDtoH(raw, 0, 4));
  CALL(cuMemcpyDtoD(0, p, 4));
  CALL(cuMemcpyDtoD(p, 0, 4));
  CALL(cuMemcpy(0, p, 4));
  CALL(cuMemcpy(p, 0, 4));
  CALL(cuMemcpyHtoDAsync(p, nullptr, 4, s));
  CALL(cuMemcpyAsync(p, 0, 4, s));
  CALL(cuMemcpyPeer(p, nullptr, p, prim, 4));
  CALL(cuMemcpyPeer(p, prim, p, nullptr, 4));
  CALL(cuMemsetD8(0, 0, 4));
  CALL(cuMemsetD16(p + 1, 0, 4));
  CALL(cuMemsetD32(p + 2, 0, 4));
  CALL(cuMemsetD8Async(0, 0, 4, s));
  CALL(cuMemsetD2D8(p, 8, 0, 16, 2));
  CALL(cuMemsetD2D32(p, 32, 0, 16, 2));
  CALL(cuMemcpy2D(nullptr));
  CALL(cuMemcpy3D(nullptr));
  CALL(cuMemcpy3DPeer(nullptr));
  CALL(cuMemFreeHost(raw));
  CALL(cuMemFree((CUdeviceptr)raw));
}

// The array and the texture that the rows of "args_array" begin from.
struct ArrayRows {
  CUDA_ARRAY_DESCRIPTOR d{};
  CUDA_ARRAY3D_DESCRIPTOR d3{};
  CUDA_RESOURCE_DESC rd{};
  CUDA_TEXTURE_DESC td{};
  CUarray a = nullptr;
  CUarray x;
  CUmipmappedArray mm = nullptr;
  CUtexObject t = 0;
  CUtexObject tt;

  ArrayRows() {
    d.Width = d3.Width = 64;
    d.Height = d3.Height = 64;
    d.Format = d3.Format = CU_AD_FORMAT_FLOAT;
    d.NumChannels = d3.NumChannels = 1;
    SETUP(cuArrayCreate(&a, &d));
    SETUP(cuMipmappedArrayCreate(&mm, &d3, 3));
    rd.resType = CU_RESOURCE_TYPE_ARRAY;
    rd.res.array.hArray = a;
    SETUP(cuTexObjectCreate(&t, &rd, &td, nullptr));
  }

  template <class Change>
  void create(const char* what, Change change) {
    const auto shape = with(d, change);
    STEP(std::string{"cuArrayCreate "} + what, cuArrayCreate(&x, &shape));
  }
  template <class Change>
  void create_3d(const char* what, Change change) {
    const auto shape = with(d3, change);
    STEP(std::string{"cuArray3DCreate "} + what, cuArray3DCreate(&x, &shape));
  }
  template <class Change>
  void texture_of(const char* what, const CUDA_RESOURCE_DESC& base, Change change) {
    const auto resource = with(base, change);
    STEP(std::string{"cuTexObjectCreate "} + what, cuTexObjectCreate(&tt, &resource, &td, nullptr));
  }
  template <class Change>
  void sampled(const char* what, Change change) {
    const auto sampling = with(td, change);
    STEP(std::string{"cuTexObjectCreate "} + what, cuTexObjectCreate(&tt, &rd, &sampling, nullptr));
  }

  void shapes();
  void levels();
  void textures();
};

void ArrayRows::shapes() {
  CUDA_ARRAY_DESCRIPTOR o;
  CUDA_ARRAY3D_DESCRIPTOR o3;
  CALL(cuArrayCreate(nullptr, &d));
  CALL(cuArrayCreate(&x, nullptr));
  create("width 0", [](auto& c) { c.Width = 0; });
  create("format 0", [](auto& c) { c.Format = static_cast<CUarray_format>(0); });
  create("3 channels", [](auto& c) { c.NumChannels = 3; });
  create("0 channels", [](auto& c) { c.NumChannels = 0; });
  create("width over the limit", [](auto& c) { c.Width = 131073; });
  create("height 0 (1D)", [](auto& c) { c.Height = 0; });
  const auto cubemap = [](std::size_t depth) {
    return [depth](auto& c) {
      c.Flags = CUDA_ARRAY3D_CUBEMAP;
      c.Depth = depth;
    };
  };
  create_3d("unknown flag", [](auto& c) { c.Flags = 0x10000; });
  create_3d("cubemap depth 5", cubemap(5));
  create_3d("cubemap depth 6", cubemap(6));
  create_3d("height 0 depth 4", [](auto& c) { c.Height = 0, c.Depth = 4; });
  create_3d("layered depth 0", [](auto& c) { c.Flags = CUDA_ARRAY3D_LAYERED; });
  CALL(cuArray3DCreate(nullptr, &d3));
  CALL(cuArrayGetDescriptor(nullptr, a));
  CALL(cuArrayGetDescriptor(&o, nullptr));
  CALL(cuArray3DGetDescriptor(nullptr, a));
  CALL(cuArray3DGetDescriptor(&o3, nullptr));
}

void ArrayRows::levels() {
  CUmipmappedArray y;
  CUDA_ARRAY_DESCRIPTOR o{};
  CUarray pl;
  CUDA_ARRAY_SPARSE_PROPERTIES sp;
  CUDA_ARRAY_MEMORY_REQUIREMENTS mr;
  CALL(cuMipmappedArrayCreate(&y, &d3, 0));
  CALL(cuMipmappedArrayCreate(nullptr, &d3, 2));
  CALL(cuMipmappedArrayCreate(&y, nullptr, 2));
  CALL(cuMipmappedArrayCreate(&y, &d3, 100));
  CALL(cuMipmappedArrayGetLevel(&x, mm, 3));
  CALL(cuMipmappedArrayGetLevel(nullptr, mm, 0));
  CALL(cuMipmappedArrayGetLevel(&x, nullptr, 0));
  SETUP(cuMipmappedArrayGetLevel(&x, mm, 2));
  SETUP(cuArrayGetDescriptor(&o, x));
  STEP("width of level 2 of 64", o.Width);
  STEP("cuArrayDestroy of a mipmap level", cuArrayDestroy(x));
  CALL(cuArrayGetPlane(&pl, a, 0));
  CALL(cuArrayGetSparseProperties(&sp, a));
  CALL(cuArrayGetMemoryRequirements(&mr, a, dev));
}

void ArrayRows::textures() {
  CUDA_RESOURCE_DESC ro;
  CUDA_TEXTURE_DESC to;
  CUDA_RESOURCE_VIEW_DESC vo;
  CUsurfObject sf;
  CALL(cuTexObjectCreate(nullptr, &rd, &td, nullptr));
  CALL(cuTexObjectCreate(&tt, nullptr, &td, nullptr));
  CALL(cuTexObjectCreate(&tt, &rd, nullptr, nullptr));
  texture_of("bad resource type", rd, [](auto& r) { r.resType = static_cast<CUresourcetype>(9); });
  texture_of("null array", rd, [](auto& r) { r.res.array.hArray = nullptr; });
  texture_of("resource flags 1", rd, [](auto& r) { r.flags = 1; });
  CUDA_RESOURCE_DESC linear{};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear.devPtr = mem(65536);
  linear.res.linear.format = CU_AD_FORMAT_FLOAT;
  linear.res.linear.numChannels = 1;
  linear.res.linear.sizeInBytes = 4096;
  texture_of("linear", linear, [](auto&) {});
  texture_of("linear misaligned", linear, [](auto& r) { r.res.linear.devPtr += 4; });
  texture_of("linear size 0", linear, [](auto& r) { r.res.linear.sizeInBytes = 0; });
  sampled("bad address mode", [](auto& c) { c.addressMode[0] = static_cast<CUaddress_mode>(9); });
  sampled("bad filter mode", [](auto& c) { c.filterMode = static_cast<CUfilter_mode>(9); });
  CALL(cuTexObjectGetResourceDesc(nullptr, t));
  CALL(cuTexObjectGetResourceDesc(&ro, 0));
  CALL(cuTexObjectGetTextureDesc(&to, 0));
  CALL(cuTexObjectGetResourceViewDesc(&vo, t));
  CALL(cuSurfObjectCreate(nullptr, &rd));
  CALL(cuSurfObjectCreate(&sf, nullptr));
  STEP("cuSurfObjectCreate of an array without SURFACE_LDST", cuSurfObjectCreate(&sf, &rd));
}

void arrays() {
  boot();
  ArrayRows rows;
  rows.shapes();
  rows.levels();
  rows.textures();
}

void pools(CUmemoryPool mp, CUstream s) {
  CUmemoryPool np;
  CUmemPoolProps pp = pool_props();
  const auto create = [&](const char* what, auto change) {
    const auto props = with(pp, change);
    STEP(std::string{"cuMemPoolCreate "} + what, cuMemPoolCreate(&np, &props));
  };
  CALL(cuMemPoolCreate(nullptr, &pp));
  CALL(cuMemPoolCreate(&np, nullptr));
  create("type invalid", [](auto& c) { c.allocType = CU_MEM_ALLOCATION_TYPE_INVALID; });
  create("location invalid", [](auto& c) { c.location = NOWHERE; });
  create("device 99", [](auto& c) { c.location = DEV99; });
  create("handle type 0x40", [](auto& c) { c.handleTypes = static_cast<CUmemAllocationHandleType>(0x40); });
  // In the header of the recording's day, 13.0, this was the first reserved byte.
  create("reserved byte set", [](auto& c) { c.gpuDirectRDMACapable = 1; });
  create("win32 handles", [](auto& c) { c.handleTypes = CU_MEM_HANDLE_TYPE_WIN32; });

  cuuint64_t v;
  CALL(cuMemPoolGetAttribute(nullptr, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v));
  CALL(cuMemPoolGetAttribute(mp, (CUmemPool_attribute)0, &v));
  CALL(cuMemPoolGetAttribute(mp, (CUmemPool_attribute)99, &v));
  CALL(cuMemPoolGetAttribute(mp, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr));
  CALL(cuMemPoolSetAttribute(mp, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr));
  CALL(cuMemPoolSetAttribute(mp, (CUmemPool_attribute)99, &v));
  CALL(cuMemPoolTrimTo(nullptr, 0));

  CUmemAccessDesc d = rw();
  const CUmemAccessDesc none = rw(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  const CUmemAccessDesc read = rw(CU_MEM_ACCESS_FLAGS_PROT_READ);
  CALL(cuMemPoolSetAccess(mp, nullptr, 1));
  CALL(cuMemPoolSetAccess(mp, &d, 0));
  STEP("cuMemPoolSetAccess none for the owner", cuMemPoolSetAccess(mp, &none, 1));
  STEP("cuMemPoolSetAccess read only for the owner", cuMemPoolSetAccess(mp, &read, 1));
  d.location = DEV99;
  STEP("cuMemPoolSetAccess device 99", cuMemPoolSetAccess(mp, &d, 1));
  CUmemAccess_flags af;
  CUmemLocation l = DEV0;
  CALL(cuMemPoolGetAccess(nullptr, mp, &l));
  CALL(cuMemPoolGetAccess(&af, nullptr, &l));
  CALL(cuMemPoolGetAccess(&af, mp, nullptr));
  l = HOST;
  STEP("cuMemPoolGetAccess host", cuMemPoolGetAccess(&af, mp, &l));
  l = DEV0;
  STEP("cuMemPoolGetAccess owner", cuMemPoolGetAccess(&af, mp, &l));

  CUdeviceptr p;
  CALL(cuMemAllocAsync(nullptr, 64, s));
  CALL(cuMemAllocAsync(&p, 0, s));
  CALL(cuMemAllocFromPoolAsync(&p, 64, nullptr, s));
  CALL(cuMemAllocFromPoolAsync(nullptr, 64, mp, s));
  CALL(cuMemFreeAsync(0x1234, s));
}

void virtual_memory() {
  CUmemGenericAllocationHandle h;
  CUmemAllocationProp vp = vmm_props();
  CUmemAllocationProp po;
  CUmemAccessDesc d = rw();
  CUdeviceptr m = mem();
  std::size_t g;
  int fd;
  unsigned long long fl;
  d.location = DEV99;
  CALL(cuMemGetAllocationGranularity(nullptr, &vp, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CALL(cuMemGetAllocationGranularity(&g, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CALL(cuMemGetAllocationGranularity(&g, &vp, (CUmemAllocationGranularity_flags)9));
  CALL(cuMemCreate(nullptr, MB2, &vp, 0));
  CALL(cuMemCreate(&h, MB2, nullptr, 0));
  CALL(cuMemCreate(&h, MB2, &vp, 1));
  CALL(cuMemCreate(&h, 0, &vp, 0));
  CALL(cuMemCreate(&h, 4096, &vp, 0));
  CALL(cuMemGetAllocationPropertiesFromHandle(nullptr, 0));
  CALL(cuMemGetAllocationPropertiesFromHandle(&po, 0));
  CALL(cuMemRetainAllocationHandle(nullptr, &m));
  CALL(cuMemRetainAllocationHandle(&h, nullptr));
  STEP("cuMemRetainAllocationHandle of cuMemAlloc memory", cuMemRetainAllocationHandle(&h, (void*)m));
  CALL(cuMemMap(0, MB2, 0, 0, 0));
  CALL(cuMemSetAccess(0, MB2, &d, 1));
  CALL(cuMemGetAccess(nullptr, &DEV0, m));
  CALL(cuMemGetAccess(&fl, &DEV0, m));
  CALL(cuMemExportToShareableHandle(&fd, 0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemImportFromShareableHandle(&h, (void*)(intptr_t)-1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CALL(cuMemGetHandleForAddressRange(nullptr, m, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  CALL(cuMemGetHandleForAddressRange(&fd, m, 4096, (CUmemRangeHandleType)9, 0));
  CALL(cuMemGetHandleForAddressRange(&fd, m + 1, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
}

void pools_and_virtual_memory() {
  boot();
  CUmemoryPool mp = pool();
  pools(mp, stream());
  virtual_memory();
}

}  // namespace

void add_memory_arguments(CaseList& list) {
  list.independent("args_memory", memory);
  list.independent("args_array", arrays);
  list.independent("args_pool_vmm", pools_and_virtual_memory);
}

}  // namespace probe

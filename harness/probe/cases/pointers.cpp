// SPDX-License-Identifier: Apache-2.0
// What the driver knows about an address: ranges, pointer attributes, host memory's flags.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void address_ranges() {
  boot();
  CUdeviceptr p = mem(1000);
  void* raw = std::aligned_alloc(4096, 8192);
  void* h = pinned(100);
  CUdeviceptr m = managed(100);
  CUstream s = stream();
  CUdeviceptr a = 0;
  std::size_t z = 0;
  CUdeviceptr gv = 0;
  SETUP(cuMemAllocAsync(&a, 100, s));
  SETUP(cuMemHostRegister(raw, 5000, 0));
  SETUP(cuModuleGetGlobal(&gv, &z, mod, "gvar"));
  CUdeviceptr one = mem(1);
  const auto range_of = [&](const char* what, CUdeviceptr address, CUdeviceptr base) {
    step(what, [&] {
      CUdeviceptr found = 0;
      z = 77;
      const CUresult result = cuMemGetAddressRange(&found, &z, address);
      return name_of(result) + " base=" + (found == base ? "1" : "0") + " size=" + std::to_string(z);
    });
  };
  const auto itself = [&](const char* what, CUdeviceptr address) { range_of(what, address, address); };
  itself("device 1000", p);
  range_of("device interior", p + 999, p);
  range_of("device one past the end", p + 1000, p);
  itself("device 1 byte", one);
  itself("pinned host 100", (CUdeviceptr)h);
  itself("registered 5000", (CUdeviceptr)raw);
  itself("managed 100", m);
  itself("pool 100", a);
  itself("module global", gv);
  range_of("plain heap", (CUdeviceptr)std::malloc(64), 0);
  range_of("garbage", 0x10, 0);
}

struct Place {
  std::string name;
  CUdeviceptr address;
  CUdeviceptr base;
  bool known;  // to the driver
};

// How an attribute's bytes are told apart from those that the driver did not write.
constexpr std::uint64_t unwritten = 0xEEEEEEEEEEEEEEEEull;

std::string as_address(std::uint64_t v, std::uint64_t expected, const char* match) {
  if (v == expected) return match;
  return v != 0 ? "other address" : "null";
}
std::string as_handle(std::uint64_t v, const void* expected, const char* match) {
  if (v == reinterpret_cast<std::uint64_t>(expected)) return match;
  return v != 0 ? "other" : "null";
}

// Some attributes write one byte, some four.
std::string as_small_number(std::uint64_t v) {
  const auto low = static_cast<std::uint32_t>(v);
  if (low == 0xEEEEEEEE) return "untouched";
  return std::to_string(static_cast<int>((low & 0xFFFFFF00) == 0xEEEEEE00 ? low & 0xFF : low));
}

std::string attribute_text(CUpointer_attribute attribute, std::uint64_t v, const Place& at, CUmemoryPool the_default) {
  if (v == unwritten) return "untouched";
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return as_handle(v, prim, "primary");
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return as_address(v, at.address, "same address");
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return as_address(v, at.base, "base");
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return v != 0 ? "non-zero" : "zero";
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return as_handle(v, the_default, "default pool");
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return std::to_string(static_cast<long long>(v));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return std::to_string(static_cast<int>(v));
    default:
      return as_small_number(v);
  }
}

// By number; P2P_TOKENS needs a structure of its own.
const char* const attribute_names[] = {
    "", "CONTEXT", "MEMORY_TYPE", "DEVICE_POINTER", "HOST_POINTER", "P2P_TOKENS", "SYNC_MEMOPS", "BUFFER_ID",
    "IS_MANAGED", "DEVICE_ORDINAL", "IS_LEGACY_CUDA_IPC_CAPABLE", "RANGE_START_ADDR", "RANGE_SIZE", "MAPPED",
    "ALLOWED_HANDLE_TYPES", "IS_GPU_DIRECT_RDMA_CAPABLE", "ACCESS_FLAGS", "MEMPOOL_HANDLE", "MAPPING_SIZE",
    "MAPPING_BASE_ADDR", "MEMORY_BLOCK_ID", "IS_HW_DECOMPRESS_CAPABLE"};

bool recorded_for(CUpointer_attribute attribute, const Place& at) {
  if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS) return false;
  return at.known || attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
         attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
}

CUdeviceptr half_mapped_reservation() {
  CUdeviceptr va = reserve(2 * MB2);
  const CUmemAccessDesc access = rw();
  SETUP(cuMemMap(va, MB2, 0, vmm_handle(), 0));
  SETUP(cuMemSetAccess(va, MB2, &access, 1));
  return va;
}

void attributes() {
  boot();
  CUdeviceptr p = mem(1000);
  void* raw = std::aligned_alloc(4096, 8192);
  void* plain = std::malloc(64);
  void* h = pinned(100);
  CUdeviceptr m = managed(100);
  CUstream s = stream();
  CUdeviceptr a = 0;
  SETUP(cuMemAllocAsync(&a, 100, s));
  SETUP(cuMemHostRegister(raw, 5000, 0));
  CUdeviceptr va = half_mapped_reservation();
  CUmemoryPool the_default = default_pool();
  const Place places[] = {
      {"device", p, p, true},
      {"pinned", (CUdeviceptr)h, (CUdeviceptr)h, true},
      {"registered", (CUdeviceptr)raw + 16, (CUdeviceptr)raw, true},
      {"managed", m, m, true},
      {"pool", a, a, true},
      {"vmm", va, va, true},
      {"reserved only", va + MB2, va, false},
      {"heap", (CUdeviceptr)plain, 0, false},
      {"null", 0, 0, false},
  };
  for (const Place& at : places) {
    for (int number = 1; number <= 21; number++) {
      const auto attribute = static_cast<CUpointer_attribute>(number);
      if (!recorded_for(attribute, at)) continue;
      step(at.name + " " + attribute_names[number], [&] {
        std::uint64_t v[2] = {unwritten, 0};
        const CUresult result = cuPointerGetAttribute(v, attribute, at.address);
        return name_of(result) + " " + attribute_text(attribute, v[0], at, the_default);
      });
    }
  }
}

void several_attributes() {
  boot();
  CUdeviceptr p = mem();
  void* plain = std::malloc(64);
  unsigned mt = 77;
  int ord = 77;
  auto c = reinterpret_cast<CUcontext>(1);
  unsigned mg = 77;
  CUpointer_attribute at[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                              CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* d[] = {&mt, &ord, &c, &mg};
  CALL(cuPointerGetAttributes(4, at, d, p));
  STEP("type", mt);
  STEP("ordinal", ord);
  STEP("context", c == prim);
  STEP("managed", mg & 0xFF);
  CALL(cuPointerGetAttributes(4, at, d, (CUdeviceptr)plain));
  STEP("heap: type", mt);
  STEP("heap: ordinal", ord);
  STEP("heap: context null", c == nullptr);
  CALL(cuPointerGetAttributes(4, at, d, 0));
  STEP("null: type", mt);
  STEP("null: ordinal", ord);
  CALL(cuPointerGetAttributes(0, at, d, p));
  CALL(cuPointerGetAttributes(4, nullptr, d, p));
  CALL(cuPointerGetAttributes(4, at, nullptr, p));
  at[1] = static_cast<CUpointer_attribute>(99);
  STEP("one unknown attribute", cuPointerGetAttributes(4, at, d, p));
  CALL(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  CALL(cuPointerGetAttribute(&mt, (CUpointer_attribute)0, p));
  CALL(cuPointerGetAttribute(&mt, (CUpointer_attribute)99, p));

  int one = 1;
  int sm = 77;
  void* h = pinned(64);
  CUdeviceptr m = managed(64);
  CALL(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
  CALL(cuPointerGetAttribute(&sm, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
  STEP("sync memops", sm & 0xFF);
  CALL(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)h));
  CALL(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m));
  CALL(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)plain));
  CALL(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  CALL(cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
}

void other_context() {
  boot();
  CUdeviceptr p = mem();
  CUcontext c = ctx2();
  CUcontext got = nullptr;
  CUdeviceptr q = mem();
  CALL(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  STEP("context is the primary", got == prim);
  CALL(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_CONTEXT, q));
  STEP("context is the second", got == c);
  CALL(cuMemcpyDtoD(p, q, 64));
  CALL(cuMemsetD8(p, 0, 64));
  CALL(cuMemFree(p));
  SETUP(cuCtxSetCurrent(nullptr));
  CALL(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_CONTEXT, q));
  CALL(cuMemFree(q));
}

void host_memory_flags() {
  boot();
  for (const unsigned flags : {0u, 1u, 2u, 4u, 7u}) {
    void* block = nullptr;
    unsigned got = 77;
    CUdeviceptr on_device = 0;
    STEP("alloc flags " + std::to_string(flags), cuMemHostAlloc(&block, 64, flags));
    STEP("get flags", cuMemHostGetFlags(&got, block));
    STEP("flags", got);
    STEP("device pointer", cuMemHostGetDevicePointer(&on_device, block, 0));
    STEP("equals host", on_device == (CUdeviceptr)block);
  }
  void* h = pinned(64);
  unsigned f = 77;
  CUdeviceptr d;
  CALL(cuMemHostGetFlags(&f, h));
  STEP("cuMemAllocHost flags", f);
  CALL(cuMemHostGetDevicePointer(&d, (char*)h + 63, 0));
  CALL(cuMemHostGetDevicePointer(&d, (char*)h + (1 << 22), 0));
}

}  // namespace

void add_pointers(CaseList& list) {
  list.independent("mem_address_range", address_ranges);
  list.independent("pointer_attributes", attributes);
  list.independent("pointer_attributes_many", several_attributes);
  list.chained("pointer_other_context", other_context);
  list.chained("host_alloc_flags", host_memory_flags);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Memory pools, stream-ordered allocation, and frees of what a call does not own.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

std::string pool_get(CUmemoryPool p, CUmemPool_attribute a) {
  cuuint64_t v = 0;
  const CUresult result = cuMemPoolGetAttribute(p, a, &v);
  return name_of(result) + " " + std::to_string(static_cast<long long>(v));
}

struct Attribute {
  CUmemPool_attribute id;
  std::string name;
};
const Attribute reuse_attributes[] = {
    {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, "REUSE_FOLLOW_EVENT_DEPENDENCIES"},
    {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, "REUSE_ALLOW_OPPORTUNISTIC"},
    {CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, "REUSE_ALLOW_INTERNAL_DEPENDENCIES"},
};
const Attribute threshold{CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, "RELEASE_THRESHOLD"};
const Attribute usage_attributes[] = {
    {CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, "RESERVED_MEM_CURRENT"},
    {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, "RESERVED_MEM_HIGH"},
    {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, "USED_MEM_CURRENT"},
    {CU_MEMPOOL_ATTR_USED_MEM_HIGH, "USED_MEM_HIGH"},
};

void attributes() {
  boot();
  CUmemoryPool d = default_pool();
  CUmemoryPool p = pool();
  const auto show_both = [&](const Attribute& a) {
    STEP("default pool " + a.name, pool_get(d, a.id));
    STEP("new pool " + a.name, pool_get(p, a.id));
  };
  for (const Attribute& a : reuse_attributes) show_both(a);
  show_both(threshold);
  for (const Attribute& a : usage_attributes) show_both(a);
  for (const Attribute& a : reuse_attributes) {
    for (int z : {0, 7}) {
      STEP("set " + std::to_string(z) + " " + a.name, cuMemPoolSetAttribute(p, a.id, &z));
      STEP("then " + a.name, pool_get(p, a.id));
    }
  }
  for (const Attribute& a : usage_attributes) {
    for (cuuint64_t v : {1, 0}) STEP("set " + std::to_string(v) + " " + a.name, cuMemPoolSetAttribute(p, a.id, &v));
  }
  cuuint64_t most = ~cuuint64_t{0};
  STEP("set the threshold to the maximum", cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most));
  STEP("then RELEASE_THRESHOLD", pool_get(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
}

void keep_everything(CUmemoryPool p) {
  cuuint64_t most = ~cuuint64_t{0};
  SETUP(cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most));
}

void usage(bool keep) {
  boot();
  CUstream s = stream();
  CUmemoryPool p = pool();
  if (keep) keep_everything(p);
  const auto show = [&](const std::string& when) {
    for (const Attribute& a : usage_attributes) STEP(when + " " + a.name, pool_get(p, a.id));
  };
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CALL(cuMemAllocFromPoolAsync(&a, 4096, p, s));
  show("after 4096");
  CALL(cuMemAllocFromPoolAsync(&b, 1, p, s));
  show("after 1 more");
  CALL(cuMemFreeAsync(a, s));
  CALL(cuMemFreeAsync(b, s));
  CALL(cuStreamSynchronize(s));
  show("freed and synchronised");
  CALL(cuMemPoolTrimTo(p, 0));
  show("trimmed");
  cuuint64_t v = 0;
  CALL(cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
  CALL(cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &v));
  show("high marks reset");
}

void trim() {
  boot();
  CUstream s = stream();
  CUmemoryPool p = pool();
  keep_everything(p);
  CUdeviceptr a = 0;
  SETUP(cuMemAllocFromPoolAsync(&a, 4096, p, s));
  CALL(cuMemPoolTrimTo(p, 0));
  STEP("reserved with a live block", pool_get(p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  SETUP(cuMemFreeAsync(a, s));
  SETUP(cuStreamSynchronize(s));
  CALL(cuMemPoolTrimTo(p, 1));
  STEP("reserved after trim to 1", pool_get(p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  CALL(cuMemPoolTrimTo(p, 1ull << 40));
  CALL(cuMemPoolTrimTo(p, 0));
  STEP("reserved after trim to 0", pool_get(p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
}

void free_kinds() {
  boot();
  CUstream s = stream();
  CUstream t = stream();
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = mem();
  CUdeviceptr e = mem();
  void* h = pinned(64);
  SETUP(cuMemAllocAsync(&a, 4096, s));
  CALL(cuMemFreeAsync(a + 8, s));
  CALL(cuMemFree(a + 8));
  CALL(cuMemFreeAsync(c + 256, s));
  CALL(cuMemFree(a));
  CALL(cuMemFreeAsync(a, s));
  CALL(cuMemFree(a));
  SETUP(cuMemAllocAsync(&b, 4096, s));
  CALL(cuMemFreeAsync(b, t));
  CALL(cuMemFreeAsync(b, t));
  CALL(cuMemFree(b));
  CALL(cuMemFreeAsync((CUdeviceptr)h, s));
  CALL(cuMemFree((CUdeviceptr)h));
  CALL(cuMemFreeHost((void*)e));
  CALL(cuMemFree(e + 8));
  CALL(cuMemFreeHost((char*)h + 8));
  CALL(cuMemFreeHost(h));
  CALL(cuMemFreeHost(h));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamSynchronize(t));
}

void ordinary_memory_freed_async(const std::string& then) {
  boot();
  CUstream s = stream();
  CUdeviceptr c = mem();
  CALL(cuMemFreeAsync(c, s));
  if (then == "free") CALL(cuMemFree(c));
  if (then == "freeasync") CALL(cuMemFreeAsync(c, s));
  CALL(cuStreamSynchronize(s));
  if (then == "use") CALL(cuMemsetD8(c, 0, 64));
  CALL(cuCtxSynchronize());
}

void pending_free() {
  boot();
  static Gate gate;
  CUstream s = stream();
  CUstream t = stream();
  CUdeviceptr a = 0;
  SETUP(cuMemAllocAsync(&a, 4096, s));
  SETUP(cuStreamSynchronize(s));
  shut(gate, s);
  CALL(cuMemFreeAsync(a, s));
  int mt = -1;
  CALL(cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  CALL(cuMemFreeAsync(a, t));
  CALL(cuMemFree(a));
  CALL(cuMemsetD8Async(a, 0, 64, t));
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
  CALL(cuMemsetD8Async(a, 0, 64, t));
  CALL(cuMemcpyDtoH(&mt, a, 4));
  CALL(cuStreamSynchronize(t));
}

void reuse() {
  boot();
  CUstream s = stream();
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = 0;
  SETUP(cuMemAllocAsync(&a, 4096, s));
  SETUP(cuMemFreeAsync(a, s));
  CALL(cuMemAllocAsync(&b, 4096, s));
  STEP("same stream reuses the address", a == b);
  CALL(cuMemAllocAsync(&c, 4096, s));
  STEP("differs", c != b);
  STEP("512-byte aligned", c % 512 == 0);
}

void access() {
  boot();
  CUmemoryPool d = default_pool();
  auto f = static_cast<CUmemAccess_flags>(77);
  CUmemLocation l = DEV0;
  CALL(cuMemPoolGetAccess(&f, d, &l));
  STEP("flags", f);
  CUmemAccessDesc a = rw();
  CUmemAccessDesc n = rw(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CALL(cuMemPoolSetAccess(d, &a, 1));
  CALL(cuMemPoolSetAccess(d, &n, 1));
  n.location = HOST;
  n.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  STEP("read-write for the host", cuMemPoolSetAccess(d, &n, 1));
  l = DEV99;
  STEP("cuMemPoolGetAccess device 99", cuMemPoolGetAccess(&f, d, &l));
}

}  // namespace

void add_pools(CaseList& list) {
  list.independent("pool_attributes", attributes);
  list.chained("pool_usage_threshold_0", [] { usage(false); });
  list.chained("pool_usage_threshold_max", [] { usage(true); });
  list.chained("pool_trim", trim);
  list.chained("pool_free_kinds", free_kinds);
  for (const std::string then : {"nothing", "free", "freeasync", "use"})
    list.chained("pool_free_async_of_ordinary_memory_then_" + then, [then] { ordinary_memory_freed_async(then); });
  list.chained("pool_free_async_pending", pending_free);
  list.chained("pool_reuse", reuse);
  list.chained("pool_access_rows", access);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Managed memory: prefetch, advice, range attributes, attachment; and kernels that write where they may not, or just may.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

struct ManagedRows {
  CUstream s = nullptr;
  CUdeviceptr m = 0;
  CUdeviceptr p = 0;
  int v = 77;
  char c = 0;

  void show(const char* label, CUmem_range_attribute attribute) {
    step(label, [&] {
      v = 77;
      const CUresult result = cuMemRangeGetAttribute(&v, 4, attribute, m, 8192);
      return name_of(result) + " " + std::to_string(v);
    });
  }
  void show_read_mostly() { show("read mostly", CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY); }
  void show_preferred() { show("preferred location", CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION); }
  void show_preferred_type() { show("preferred location type", CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE); }

  void prefetch();
  void advise();
  void attributes();
  void attach();
};

void ManagedRows::prefetch() {
  CALL(cuMemPrefetchAsync(m, 8192, DEV0, 0, s));
  CALL(cuStreamSynchronize(s));
  CALL(cuMemPrefetchAsync(m, 8192, HOST, 0, s));
  CALL(cuMemPrefetchAsync(m, 8192, DEV99, 0, s));
  CALL(cuMemPrefetchAsync(m, 8192, NOWHERE, 0, s));
  CALL(cuMemPrefetchAsync(m, 8192, DEV0, 1, s));
  CALL(cuMemPrefetchAsync(m, 0, DEV0, 0, s));
  CALL(cuMemPrefetchAsync(m, 8193, DEV0, 0, s));
  CALL(cuMemPrefetchAsync(p, 4096, DEV0, 0, s));
  CALL(cuMemPrefetchAsync(0, 4096, DEV0, 0, s));
  CALL(cuStreamSynchronize(s));
}

void ManagedRows::advise() {
  show_read_mostly();
  show_preferred();
  show("accessed by", CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
  show("last prefetch location", CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
  show_preferred_type();
  show("last prefetch location type", CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE);
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, DEV0));
  show_read_mostly();
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_UNSET_READ_MOSTLY, NOWHERE));
  show_read_mostly();
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, DEV0));
  show_preferred();
  show_preferred_type();
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, HOST));
  show_preferred();
  show_preferred_type();
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, DEV0));
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_ACCESSED_BY, DEV0));
  show("accessed by", CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
  CALL(cuMemAdvise(m, 8192, (CUmem_advise)99, DEV0));
  CALL(cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_ACCESSED_BY, DEV99));
  CALL(cuMemAdvise(m, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, DEV0));
  CALL(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, DEV0));
  CALL(cuMemAdvise(0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, DEV0));
}

void ManagedRows::attributes() {
  CALL(cuMemRangeGetAttribute(&v, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 8192));
  CALL(cuMemRangeGetAttribute(&v, 4, (CUmem_range_attribute)99, m, 8192));
  CALL(cuMemRangeGetAttribute(nullptr, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 8192));
  CALL(cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 0));
  CALL(cuMemRangeGetAttribute(&v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4096));
  void* dv[] = {&v, &c};
  std::size_t ds[] = {4, 1};
  CUmem_range_attribute ra[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  CALL(cuMemRangeGetAttributes(dv, ds, ra, 1, m, 8192));
  CALL(cuMemRangeGetAttributes(dv, ds, ra, 2, m, 8192));
  CALL(cuMemRangeGetAttributes(dv, ds, ra, 0, m, 8192));
}

void ManagedRows::attach() {
  CALL(cuStreamAttachMemAsync(s, m, 0, CU_MEM_ATTACH_SINGLE));
  CALL(cuStreamAttachMemAsync(s, m, 8192, CU_MEM_ATTACH_HOST));
  CALL(cuStreamAttachMemAsync(s, m, 4096, CU_MEM_ATTACH_GLOBAL));
  CALL(cuStreamAttachMemAsync(s, m, 0, 0));
  CALL(cuStreamAttachMemAsync(s, m, 0, 9));
  CALL(cuStreamAttachMemAsync(nullptr, m, 0, CU_MEM_ATTACH_SINGLE));
  CALL(cuStreamSynchronize(s));
  CALL(cuMemFree(m + 8));
  CALL(cuMemFreeAsync(m, s));
  CALL(cuStreamSynchronize(s));
  CALL(cuMemFree(m));
}

void managed_memory() {
  boot();
  ManagedRows rows;
  rows.s = stream();
  rows.p = mem();
  CUdeviceptr m = rows.m = managed(8192);
  if (m != 0) *(char*)m = 3;
  char& c = rows.c;
  CALL(cuMemcpyDtoH(&c, m, 1));
  STEP("value written by the host", c);
  rows.prefetch();
  rows.advise();
  rows.attributes();
  rows.attach();
}

void kernel_writes_to_freed() {
  boot();
  CUfunction f = fn("store");
  CUdeviceptr p = mem(64u << 20);
  SETUP(cuMemFree(p));
  unsigned v = 1;
  void* a[] = {&p, &v};
  CALL(launch(f, nullptr, a));
  CALL(cuCtxSynchronize());
  CALL(cuCtxSynchronize());
}

void kernel_writes_to_host_memory() {
  boot();
  CUfunction f = fn("store");
  void* h = pinned(64);
  CUdeviceptr m = managed(64);
  unsigned v = 7;
  void* a[] = {&h, &v};
  CALL(launch(f, nullptr, a));
  CALL(cuCtxSynchronize());
  a[0] = &m;
  CALL(launch(f, nullptr, a));
  CALL(cuCtxSynchronize());
}

}  // namespace

void add_managed(CaseList& list) {
  list.independent("managed_memory", managed_memory);
  list.chained("kernel_writes_to_freed", kernel_writes_to_freed);
  list.chained("kernel_writes_to_pinned_and_managed", kernel_writes_to_host_memory);
}

}  // namespace probe

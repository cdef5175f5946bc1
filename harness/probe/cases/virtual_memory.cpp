// SPDX-License-Identifier: Apache-2.0
// Virtual memory: reservations, handles, mappings, access, sharing within the process.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void reservations() {
  boot();
  CUdeviceptr p = 0;
  CUdeviceptr q = 0;
  CALL(cuMemAddressReserve(nullptr, MB2, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, 0, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, 4096, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, 65536, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, MB2 + 4096, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, MB2, 3, 0, 0));
  CALL(cuMemAddressReserve(&q, MB2, 4096, 0, 0));
  CALL(cuMemAddressReserve(&q, MB2, 8 * MB2, 0, 0));
  STEP("aligned to 16 MiB", q % (8 * MB2) == 0);
  CALL(cuMemAddressReserve(&q, MB2, 0, 0, 7));
  CALL(cuMemAddressReserve(&q, 1ull << 40, 0, 0, 0));
  CALL(cuMemAddressReserve(&q, 1ull << 60, 0, 0, 0));
  CALL(cuMemAddressReserve(&p, 2 * MB2, 0, 0, 0));
  STEP("aligned to 2 MiB", p % MB2 == 0);
  CUdeviceptr taken = p;
  CALL(cuMemAddressReserve(&q, MB2, 0, taken, 0));
  STEP("a taken hint is not honoured", q != taken);
  CALL(cuMemAddressReserve(&q, MB2, 0, 12345, 0));
  CALL(cuMemAddressFree(p, MB2));
  CALL(cuMemAddressFree(p + MB2, MB2));
  CALL(cuMemAddressFree(p, 4 * MB2));
  CALL(cuMemAddressFree(p, 0));
  CALL(cuMemAddressFree(0, MB2));
  CALL(cuMemAddressFree(p, 2 * MB2));
  CALL(cuMemAddressFree(p, 2 * MB2));
  CALL(cuMemAddressFree(mem(), MB2));
}

void handles() {
  boot();
  CUmemGenericAllocationHandle h;
  const CUmemAllocationProp g = vmm_props();
  const auto create = [&](const char* what, auto change, std::size_t bytes = MB2) {
    const auto props = with(g, change);
    STEP(what, cuMemCreate(&h, bytes, &props, 0));
  };
  const auto handle_type = [](int type) {
    return [type](auto& p) { p.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(type); };
  };
  const auto as_it_is = [](auto&) {};
  create("good", as_it_is);
  create("size 1 MiB", as_it_is, MB2 / 2);
  create("size 2 MiB + 64 KiB", as_it_is, MB2 + 65536);
  create("type invalid", [](auto& p) { p.type = CU_MEM_ALLOCATION_TYPE_INVALID; });
  create("type managed", [](auto& p) { p.type = CU_MEM_ALLOCATION_TYPE_MANAGED; });
  create("location invalid", [](auto& p) { p.location = NOWHERE; });
  create("device 99", [](auto& p) { p.location = DEV99; });
  create("device -1", [](auto& p) { p.location.id = -1; });
  create("host", [](auto& p) { p.location = HOST; });
  create("host NUMA 0", [](auto& p) { p.location = place(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0); });
  create("fd handles", handle_type(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  create("win32 handles", handle_type(CU_MEM_HANDLE_TYPE_WIN32));
  create("handle type 0x40", handle_type(0x40));
  create("compression type 9", [](auto& p) { p.allocFlags.compressionType = 9; });
  create("compression generic", [](auto& p) { p.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC; });
  create("usage 0x80", [](auto& p) { p.allocFlags.usage = 0x80; });
  create("reserved byte", [](auto& p) { p.allocFlags.reserved[0] = 1; });
  std::size_t gr = 77;
  CALL(cuMemGetAllocationGranularity(&gr, &g, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  STEP("minimum granularity", gr);
  CALL(cuMemGetAllocationGranularity(&gr, &g, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  STEP("recommended granularity", gr);
  const auto granularity = [&](const char* what, auto change) {
    const auto props = with(g, change);
    STEP(what, cuMemGetAllocationGranularity(&gr, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  };
  granularity("granularity of device 99", [](auto& p) { p.location = DEV99; });
  granularity("granularity of an invalid type", [](auto& p) { p.type = CU_MEM_ALLOCATION_TYPE_INVALID; });
}

void mappings() {
  boot();
  CUdeviceptr p = reserve(8 * MB2);
  CUmemGenericAllocationHandle h = vmm_handle();
  CUmemGenericAllocationHandle h2 = vmm_handle(2 * MB2);
  CALL(cuMemMap(p, MB2, 0, 0, 0));
  CALL(cuMemMap(p, MB2, 0, h, 1));
  CALL(cuMemMap(p + 4096, MB2, 0, h, 0));
  CALL(cuMemMap(p, 4096, 0, h, 0));
  CALL(cuMemMap(p, 0, 0, h, 0));
  CALL(cuMemMap(p, 2 * MB2, 0, h, 0));
  CALL(cuMemMap(p, MB2, MB2, h2, 0));
  CALL(cuMemMap(p + 7 * MB2, 2 * MB2, 0, h2, 0));
  CUdeviceptr q = reserve(2 * MB2);
  CALL(cuMemMap(0x10000000, MB2, 0, h, 0));
  STEP("map into cuMemAlloc memory", cuMemMap(mem(4 * MB2) & ~(MB2 - 1), MB2, 0, h, 0));
  STEP("map half of a handle", cuMemMap(p + 4 * MB2, MB2, 0, h2, 0));
  CALL(cuMemMap(p, MB2, 0, h, 0));
  STEP("map the same range again", cuMemMap(p, MB2, 0, h, 0));
  STEP("map the same range with another handle", cuMemMap(p, 2 * MB2, 0, h2, 0));
  STEP("map the same handle at a second address", cuMemMap(q, MB2, 0, h, 0));
  CALL(cuMemUnmap(p, MB2));
  CALL(cuMemUnmap(p, MB2));
  STEP("map after unmap", cuMemMap(p, MB2, 0, h, 0));
}

// A reservation with a handle mapped at its start and, unless refused, access for the device.
struct Mapping {
  CUdeviceptr p;
  CUmemGenericAllocationHandle h;
};
Mapping mapped(bool with_access) {
  const Mapping made{reserve(MB2), vmm_handle()};
  const CUmemAccessDesc access = rw();
  SETUP(cuMemMap(made.p, MB2, 0, made.h, 0));
  if (with_access) SETUP(cuMemSetAccess(made.p, MB2, &access, 1));
  return made;
}

void write_read_only() {
  boot();
  CUdeviceptr p = mapped(false).p;
  const CUmemAccessDesc r = rw(CU_MEM_ACCESS_FLAGS_PROT_READ);
  CALL(cuMemSetAccess(p, MB2, &r, 1));
  char b[64];
  CALL(cuMemcpyDtoH(b, p, 64));
  CALL(cuMemcpyHtoD(p, b, 64));
  CALL(cuCtxSynchronize());
  CALL(cuMemsetD8(p, 1, 64));
  CALL(cuCtxSynchronize());
}

void kernel_without_access() {
  boot();
  CUfunction f = fn("store");
  CUdeviceptr p = mapped(false).p;
  unsigned v = 1;
  void* a[] = {&p, &v};
  CALL(launch(f, nullptr, a));
  CALL(cuCtxSynchronize());
}

void unmapping() {
  boot();
  CUdeviceptr p = reserve(8 * MB2);
  CUmemGenericAllocationHandle h = vmm_handle(2 * MB2);
  CUmemGenericAllocationHandle h2 = vmm_handle();
  SETUP(cuMemMap(p, 2 * MB2, 0, h, 0));
  SETUP(cuMemMap(p + 2 * MB2, MB2, 0, h2, 0));
  CALL(cuMemUnmap(p, MB2));
  CALL(cuMemUnmap(p + MB2, MB2));
  CALL(cuMemUnmap(p, 4096));
  STEP("cuMemUnmap of a part never mapped", cuMemUnmap(p + 4 * MB2, MB2));
  STEP("cuMemAddressFree while mapped", cuMemAddressFree(p, 8 * MB2));
  CALL(cuMemFree(p));
  STEP("cuMemUnmap of both mappings at once", cuMemUnmap(p, 3 * MB2));
  STEP("cuMemUnmap again", cuMemUnmap(p, 3 * MB2));
  SETUP(cuMemMap(p, 2 * MB2, 0, h, 0));
  STEP("cuMemUnmap of the whole reservation, partly mapped", cuMemUnmap(p, 8 * MB2));
  CALL(cuMemRelease(h));
  CALL(cuMemRelease(h2));
  CALL(cuMemAddressFree(p, 8 * MB2));
  CALL(cuMemUnmap(p, MB2));
}

void released_twice() {
  boot();
  CUmemGenericAllocationHandle h = vmm_handle();
  CUmemAllocationProp pr;
  CALL(cuMemRelease(h));
  CALL(cuMemGetAllocationPropertiesFromHandle(&pr, h));
  CALL(cuMemRelease(h));
}

void two_addresses() {
  boot();
  CUdeviceptr p = reserve(2 * MB2);
  CUmemGenericAllocationHandle h = vmm_handle();
  const CUmemAccessDesc a = rw();
  SETUP(cuMemMap(p, MB2, 0, h, 0));
  SETUP(cuMemMap(p + MB2, MB2, 0, h, 0));
  CALL(cuMemSetAccess(p, 2 * MB2, &a, 1));
  unsigned v = 0;
  CALL(cuMemsetD32(p, 42, 1));
  CALL(cuMemcpyDtoH(&v, p + MB2, 4));
  STEP("aliased value", v);
  CALL(cuMemUnmap(p, 2 * MB2));
  CALL(cuMemcpyDtoH(&v, p, 4));
}

void ranges() {
  boot();
  CUdeviceptr p = reserve(4 * MB2);
  CUdeviceptr b = 0;
  std::size_t z = 77;
  CUmemGenericAllocationHandle h = vmm_handle(2 * MB2);
  const CUmemAccessDesc a = rw();
  CALL(cuMemGetAddressRange(&b, &z, p));
  SETUP(cuMemMap(p + MB2, 2 * MB2, 0, h, 0));
  SETUP(cuMemSetAccess(p + MB2, 2 * MB2, &a, 1));
  CALL(cuMemGetAddressRange(&b, &z, p + 2 * MB2));
  STEP("base is the mapping", b == p + MB2);
  STEP("base is the reservation", b == p);
  STEP("size", z);
  CALL(cuMemFree(p + MB2));
  CALL(cuMemFreeAsync(p + MB2, nullptr));
  CALL(cuMemHostUnregister((void*)(p + MB2)));
  CALL(cuCtxSynchronize());
}

void context_reset() {
  boot();
  const Mapping made = mapped(true);
  CUdeviceptr p = made.p;
  CUmemGenericAllocationHandle h = made.h;
  CALL(cuDevicePrimaryCtxReset(dev));
  CUcontext c = nullptr;
  CALL(cuDevicePrimaryCtxRetain(&c, dev));
  CALL(cuCtxSetCurrent(c));
  CALL(cuMemsetD8(p, 0, 64));
  CALL(cuMemUnmap(p, MB2));
  CALL(cuMemRelease(h));
}

void sharing() {
  boot();
  constexpr auto with_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle plain = vmm_handle();
  CUmemGenericAllocationHandle h = vmm_handle(MB2, with_fd);
  int fd = -1;
  int fd2 = -1;
  CALL(cuMemExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_NONE, 0));
  CALL(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_WIN32, 0));
  CALL(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
  CALL(cuMemExportToShareableHandle(nullptr, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  STEP("fd set", fd >= 0);
  CALL(cuMemExportToShareableHandle(&fd2, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  STEP("a second, different fd", fd2 >= 0 && fd2 != fd);
  CUmemGenericAllocationHandle g = 0;
  CALL(cuMemImportFromShareableHandle(&g, (void*)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  STEP("another handle", g != h);
  CALL(cuMemImportFromShareableHandle(&g, (void*)(intptr_t)fd, CU_MEM_HANDLE_TYPE_WIN32));
  CALL(cuMemImportFromShareableHandle(&g, (void*)(intptr_t)999, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CALL(cuMemImportFromShareableHandle(nullptr, (void*)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  const int file = open("/dev/null", O_RDWR);
  STEP("import of an ordinary file", cuMemImportFromShareableHandle(&g, (void*)(intptr_t)file, with_fd));
  CALL(cuMemImportFromShareableHandle(&g, (void*)(intptr_t)fd2, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  close(fd2);
  CUdeviceptr p = reserve(2 * MB2);
  const CUmemAccessDesc a = rw();
  CALL(cuMemMap(p, MB2, 0, h, 0));
  CALL(cuMemMap(p + MB2, MB2, 0, g, 0));
  CALL(cuMemSetAccess(p, 2 * MB2, &a, 1));
  unsigned v = 0;
  CALL(cuMemsetD32(p, 9, 1));
  CALL(cuMemcpyDtoH(&v, p + MB2, 4));
  STEP("value through the import", v);
  CALL(cuMemRelease(h));
  CALL(cuMemRelease(g));
}

}  // namespace

void add_virtual_memory(CaseList& list) {
  list.independent("vmm_reserve", reservations);
  list.independent("vmm_create", handles);
  list.independent("vmm_map", mappings);
  list.chained("vmm_write_read_only", write_read_only);
  list.chained("vmm_kernel_without_access", kernel_without_access);
  list.independent("vmm_unmap", unmapping);
  list.chained("vmm_release_twice", released_twice);
  list.chained("vmm_two_addresses_one_handle", two_addresses);
  list.chained("vmm_range_rows", ranges);
  list.chained("vmm_context_reset", context_reset);
  list.independent("vmm_share", sharing);
}

}  // namespace probe

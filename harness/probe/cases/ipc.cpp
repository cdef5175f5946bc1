// SPDX-License-Identifier: Apache-2.0
// Sharing between processes: memory and event handles, pools, virtual memory.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cases/cases.h"
#include "cases/fixtures.h"
#include "cases/partner.h"

namespace probe {
namespace {

constexpr auto as_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr auto lazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

void handles_of_memory(CUdeviceptr p, CUipcMemHandle& h) {
  CUdeviceptr q = 0;
  CUdeviceptr m = managed(64);
  CUdeviceptr a = 0;
  CUipcMemHandle h2{};
  void* host = pinned(64);
  SETUP(cuMemAllocAsync(&a, 64, stream()));
  CALL(cuIpcGetMemHandle(nullptr, p));
  CALL(cuIpcGetMemHandle(&h, 0));
  CALL(cuIpcGetMemHandle(&h, (CUdeviceptr)host));
  CALL(cuIpcGetMemHandle(&h, m));
  CALL(cuIpcGetMemHandle(&h, a));
  STEP("handle of heap memory", cuIpcGetMemHandle(&h, (CUdeviceptr)std::malloc(64)));
  CUdeviceptr gv = 0;
  SETUP(cuModuleGetGlobal(&gv, nullptr, mod, "gvar"));
  STEP("handle of a module global", cuIpcGetMemHandle(&h, gv));
  CUdeviceptr v = reserve(MB2);
  const CUmemAccessDesc access = rw();
  SETUP(cuMemMap(v, MB2, 0, vmm_handle(), 0));
  SETUP(cuMemSetAccess(v, MB2, &access, 1));
  STEP("handle of mapped VMM memory", cuIpcGetMemHandle(&h, v));
  CALL(cuIpcGetMemHandle(&h, p));
  STEP("handle of an interior pointer", cuIpcGetMemHandle(&h2, p + 64));
  STEP("same handle as the base", std::memcmp(&h, &h2, sizeof h) == 0);
  SETUP(cuIpcGetMemHandle(&h2, p));
  STEP("same handle again", std::memcmp(&h, &h2, sizeof h) == 0);
  CALL(cuIpcOpenMemHandle(&q, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CALL(cuIpcOpenMemHandle(nullptr, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CALL(cuIpcOpenMemHandle(&q, h, 0));
  CUipcMemHandle z{};
  CALL(cuIpcOpenMemHandle(&q, z, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CALL(cuIpcCloseMemHandle(p));
  CALL(cuIpcCloseMemHandle(0));
}

void handles_of_events() {
  CUevent plain = event();
  CUevent timed = event(CU_EVENT_DISABLE_TIMING);
  CUevent ip = event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  CUevent oe = nullptr;
  CUipcEventHandle eh{};
  CALL(cuIpcGetEventHandle(nullptr, ip));
  CALL(cuIpcGetEventHandle(&eh, nullptr));
  CALL(cuIpcGetEventHandle(&eh, plain));
  CALL(cuIpcGetEventHandle(&eh, timed));
  CALL(cuIpcGetEventHandle(&eh, ip));
  CALL(cuIpcOpenEventHandle(&oe, eh));
  CALL(cuIpcOpenEventHandle(nullptr, eh));
  CUipcEventHandle ze{};
  CALL(cuIpcOpenEventHandle(&oe, ze));
}

void same_process() {
  boot();
  CUipcMemHandle h{};
  handles_of_memory(mem(), h);
  handles_of_events();
}

void import_memory(const Partner& exporter) {
  const auto h = exporter.take<CUipcMemHandle>();
  boot();
  CUdeviceptr q = 0;
  CUdeviceptr q2 = 0;
  CUdeviceptr b = 0;
  std::size_t z = 0;
  unsigned v = 0;
  CALL(cuIpcOpenMemHandle(&q, h, 0));
  CALL(cuIpcOpenMemHandle(&q, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CALL(cuMemcpyDtoH(&v, q, 4));
  STEP("value", v);
  CALL(cuMemGetAddressRange(&b, &z, q));
  STEP("base", b == q);
  STEP("size", z);
  unsigned mt = 77;
  CALL(cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q));
  STEP("type", mt);
  unsigned lg = 77;
  CALL(cuPointerGetAttribute(&lg, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, q));
  STEP("IPC capable", lg & 0xFF);
  CUipcMemHandle h2;
  STEP("export the imported memory", cuIpcGetMemHandle(&h2, q));
  STEP("open twice", cuIpcOpenMemHandle(&q2, h, lazy));
  STEP("same address", q2 == q);
  CALL(cuMemFree(q));
  CALL(cuIpcCloseMemHandle(q + 8));
  CALL(cuMemsetD32(q, 9, 1));
  CALL(cuIpcCloseMemHandle(q));
  STEP("use after one close of two", cuMemcpyDtoH(&v, q, 4));
  STEP("close again", cuIpcCloseMemHandle(q));
  STEP("use after both closes", cuMemcpyDtoH(&v, q, 4));
  STEP("close a third time", cuIpcCloseMemHandle(q));
  STEP("open with flags 7", cuIpcOpenMemHandle(&q, h, 7));
  STEP("close", cuIpcCloseMemHandle(q));
  exporter.give_turn();
  exporter.await_turn();
  STEP("open after the exporter freed it", cuIpcOpenMemHandle(&q, h, lazy));
  exporter.give_turn();
}

void memory() {
  const Partner importer = fork_partner(import_memory);
  boot();
  CUdeviceptr p = mem();
  SETUP(cuMemsetD32(p, 7, 1));
  CUipcMemHandle h{};
  SETUP(cuIpcGetMemHandle(&h, p));
  importer.give(h);
  importer.await_turn();
  unsigned v = 0;
  CALL(cuMemcpyDtoH(&v, p, 4));
  STEP("value written by the importer", v);
  CALL(cuMemFree(p));
  importer.give_turn();
  importer.await_turn();
}

void import_two_blocks(const Partner& exporter) {
  const auto h = exporter.take<CUipcMemHandle>();
  const auto g = exporter.take<CUipcMemHandle>();
  boot();
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  unsigned v = 0;
  CALL(cuIpcOpenMemHandle(&a, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CALL(cuIpcOpenMemHandle(&b, g, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  STEP("different addresses", a != b);
  CALL(cuMemcpyDtoH(&v, a, 4));
  STEP("first", v);
  CALL(cuMemcpyDtoH(&v, b, 4));
  STEP("second", v);
  CALL(cuIpcCloseMemHandle(a));
  CALL(cuMemcpyDtoH(&v, b, 4));
  CALL(cuIpcCloseMemHandle(b));
  CALL(cuDevicePrimaryCtxReset(dev));
  exporter.give_turn();
}

void two_blocks() {
  const Partner importer = fork_partner(import_two_blocks);
  boot();
  CUdeviceptr p = mem(64);
  CUdeviceptr q = mem(64);
  SETUP(cuMemsetD32(p, 7, 1));
  SETUP(cuMemsetD32(q, 8, 1));
  CUipcMemHandle h{};
  CUipcMemHandle g{};
  SETUP(cuIpcGetMemHandle(&h, p));
  SETUP(cuIpcGetMemHandle(&g, q));
  importer.give(h);
  importer.give(g);
  importer.await_turn();
  CALL(cuMemFree(p));
  CALL(cuMemFree(q));
}

// The imported pool itself, and what may be done with it.
void use_imported_pool(int f, CUmemoryPool& p, CUstream q) {
  CUmemoryPool p2;
  CUdeviceptr c;
  cuuint64_t u = 0;
  int z = 0;
  int ef;
  CALL(cuMemPoolImportFromShareableHandle(&p, (void*)(intptr_t)f, CU_MEM_HANDLE_TYPE_WIN32, 0));
  CALL(cuMemPoolImportFromShareableHandle(&p, (void*)(intptr_t)f, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
  CALL(cuMemPoolImportFromShareableHandle(&p, (void*)(intptr_t)999, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemPoolImportFromShareableHandle(nullptr, (void*)(intptr_t)f, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemPoolImportFromShareableHandle(&p, (void*)(intptr_t)f, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  STEP("import the pool twice", cuMemPoolImportFromShareableHandle(&p2, (void*)(intptr_t)f, as_fd, 0));
  STEP("allocate from the imported pool", cuMemAllocFromPoolAsync(&c, 64, p, q));
  STEP("get its threshold", cuMemPoolGetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &u));
  STEP("set its threshold", cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &u));
  STEP("set reuse", cuMemPoolSetAttribute(p, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &z));
  STEP("get used", cuMemPoolGetAttribute(p, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &u));
  STEP("trim it", cuMemPoolTrimTo(p, 0));
  STEP("make it the device's pool", cuDeviceSetMemPool(dev, p));
  STEP("export it again", cuMemPoolExportToShareableHandle(&ef, p, as_fd, 0));
}

void use_imported_pointer(CUmemoryPool p, CUstream q, CUmemPoolPtrExportData x) {
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  unsigned v = 0;
  CUmemPoolPtrExportData bad{};
  CALL(cuMemPoolImportPointer(&a, p, &bad));
  CALL(cuMemPoolImportPointer(&a, nullptr, &x));
  CALL(cuMemPoolImportPointer(nullptr, p, &x));
  CUmemoryPool mine = pool();
  STEP("import the pointer into another pool", cuMemPoolImportPointer(&a, mine, &x));
  CALL(cuMemPoolImportPointer(&a, p, &x));
  STEP("import the pointer twice", cuMemPoolImportPointer(&b, p, &x));
  STEP("same address", a == b);
  const CUmemAccessDesc access = rw();
  STEP("set access on it", cuMemPoolSetAccess(p, &access, 1));
  CALL(cuMemcpyDtoH(&v, a, 4));
  STEP("value", v);
  CUmemoryPool of = nullptr;
  CALL(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
  STEP("pool of the pointer", of == p);
  CUmemPoolPtrExportData y;
  STEP("export the imported pointer", cuMemPoolExportPointer(&y, a));
  CALL(cuMemFreeAsync(a, q));
  CALL(cuStreamSynchronize(q));
  STEP("free it twice", cuMemFreeAsync(a, q));
}

void import_pool(const Partner& exporter) {
  const int f = exporter.take_descriptor();
  const auto x = exporter.take<CUmemPoolPtrExportData>();
  boot();
  CUstream q = stream();
  CUmemoryPool p = nullptr;
  use_imported_pool(f, p, q);
  use_imported_pointer(p, q, x);
  CALL(cuMemPoolDestroy(p));
  close(f);
  exporter.give_turn();
  exporter.await_turn();
  exporter.give_turn();
}

void shared_pool() {
  const Partner importer = fork_partner(import_pool);
  boot();
  CUstream s = stream();
  CUmemoryPool p = nullptr;
  CUmemoryPool o = pool();
  const CUmemPoolProps exportable = with(pool_props(), [](auto& c) { c.handleTypes = as_fd; });
  SETUP(cuMemPoolCreate(&p, &exportable));
  CUmemoryPool d = default_pool();
  int f = -1;
  CUmemPoolPtrExportData x{};
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  STEP("export the default pool", cuMemPoolExportToShareableHandle(&f, d, as_fd, 0));
  STEP("export a pool without handle types", cuMemPoolExportToShareableHandle(&f, o, as_fd, 0));
  CALL(cuMemPoolExportToShareableHandle(nullptr, p, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemPoolExportToShareableHandle(&f, p, CU_MEM_HANDLE_TYPE_WIN32, 0));
  CALL(cuMemPoolExportToShareableHandle(&f, p, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
  CALL(cuMemPoolExportToShareableHandle(&f, p, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  SETUP(cuMemAllocFromPoolAsync(&a, 4096, p, s));
  SETUP(cuMemAllocFromPoolAsync(&b, 4096, o, s));
  SETUP(cuMemsetD32Async(a, 7, 1, s));
  SETUP(cuStreamSynchronize(s));
  CALL(cuMemPoolExportPointer(nullptr, a));
  CALL(cuMemPoolExportPointer(&x, b));
  STEP("export ordinary memory", cuMemPoolExportPointer(&x, mem()));
  STEP("export an interior pointer", cuMemPoolExportPointer(&x, a + 64));
  CALL(cuMemPoolExportPointer(&x, a));
  CUmemoryPool again;
  STEP("import the pool in the same process",
       cuMemPoolImportFromShareableHandle(&again, (void*)(intptr_t)f, as_fd, 0));
  importer.give_descriptor(f);
  importer.give(x);
  importer.await_turn();
  STEP("exporter frees", cuMemFreeAsync(a, s));
  CALL(cuStreamSynchronize(s));
  CALL(cuMemPoolDestroy(p));
  importer.give_turn();
  importer.await_turn();
}

void import_virtual_memory(const Partner& exporter) {
  const int f = exporter.take_descriptor();
  boot();
  CUmemGenericAllocationHandle h = 0;
  unsigned v = 0;
  CALL(cuMemImportFromShareableHandle(&h, (void*)(intptr_t)f, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(f);
  CUmemAllocationProp p{};
  CALL(cuMemGetAllocationPropertiesFromHandle(&p, h));
  STEP("handle types", p.requestedHandleTypes);
  CUdeviceptr q = reserve(MB2);
  const CUmemAccessDesc a = rw();
  CALL(cuMemMap(q, MB2, 0, h, 0));
  CALL(cuMemcpyDtoH(&v, q, 4));
  CALL(cuMemSetAccess(q, MB2, &a, 1));
  CALL(cuMemcpyDtoH(&v, q, 4));
  STEP("value", v);
  int g = -1;
  STEP("export the import", cuMemExportToShareableHandle(&g, h, as_fd, 0));
  exporter.give_turn();
  exporter.await_turn();
  STEP("read after the exporter released it", cuMemcpyDtoH(&v, q, 4));
  STEP("value", v);
  CALL(cuMemUnmap(q, MB2));
  CALL(cuMemRelease(h));
  exporter.give_turn();
}

void shared_virtual_memory() {
  const Partner importer = fork_partner(import_virtual_memory);
  boot();
  CUmemGenericAllocationHandle h = vmm_handle(MB2, as_fd);
  CUdeviceptr p = reserve(MB2);
  const CUmemAccessDesc access = rw();
  SETUP(cuMemMap(p, MB2, 0, h, 0));
  SETUP(cuMemSetAccess(p, MB2, &access, 1));
  SETUP(cuMemsetD32(p, 7, 1));
  int f = -1;
  SETUP(cuMemExportToShareableHandle(&f, h, as_fd, 0));
  importer.give_descriptor(f);
  close(f);
  importer.await_turn();
  CALL(cuMemUnmap(p, MB2));
  CALL(cuMemRelease(h));
  importer.give_turn();
  importer.await_turn();
}

}  // namespace

void add_ipc(CaseList& list) {
  list.independent("ipc_same_process", same_process);
  list.chained("ipc_memory", memory);
  list.chained("ipc_memory_two_blocks", two_blocks);
  list.chained("ipc_pool", shared_pool);
  list.chained("ipc_vmm", shared_virtual_memory);
}

}  // namespace probe

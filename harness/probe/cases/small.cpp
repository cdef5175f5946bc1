// SPDX-License-Identifier: Apache-2.0
// The small interfaces: core dumps, profiler, checkpoints, logs, multicast queries, external objects, decompression.
#include <fcntl.h>
#include <unistd.h>

#include <cudaProfiler.h>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

void core_dump_before_init() {
  bool b;
  std::size_t z = sizeof b;
  CALL(cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &b, &z));
  CALL(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &b, &z));
}

void profiler() {
  boot();
  CALL(cuProfilerStart());
  CALL(cuProfilerStart());
  CALL(cuProfilerStop());
  CALL(cuProfilerStop());
  CALL(cuProfilerInitialize("a", "b", CU_OUT_CSV));
  SETUP(cuCtxSetCurrent(nullptr));
  CALL(cuProfilerStart());
  CALL(cuProfilerStop());
}

void checkpoint() {
  boot();
  auto st = static_cast<CUprocessState>(77);
  int t = 77;
  CALL(cuCheckpointProcessGetState(getpid(), &st));
  STEP("state", st);
  CALL(cuCheckpointProcessGetState(getpid(), nullptr));
  CALL(cuCheckpointProcessGetState(0, &st));
  CALL(cuCheckpointProcessGetState(-1, &st));
  CALL(cuCheckpointProcessGetState(99999999, &st));
  CALL(cuCheckpointProcessGetState(getppid(), &st));
  CALL(cuCheckpointProcessGetRestoreThreadId(getpid(), nullptr));
  CALL(cuCheckpointProcessGetRestoreThreadId(0, &t));
  CALL(cuCheckpointProcessGetRestoreThreadId(getpid(), &t));
  CALL(cuCheckpointProcessLock(0, nullptr));
  CALL(cuCheckpointProcessCheckpoint(0, nullptr));
  CALL(cuCheckpointProcessRestore(0, nullptr));
  CALL(cuCheckpointProcessUnlock(0, nullptr));
}

void log_unregistered_twice() {
  boot();
  CUlogsCallbackHandle h = nullptr;
  const CUlogsCallback ignore = [](void*, CUlogLevel, char*, std::size_t) {};
  SETUP(cuLogsRegisterCallback(ignore, nullptr, &h));
  CALL(cuLogsUnregisterCallback(h));
  CALL(cuLogsUnregisterCallback(h));
}

// The query alone: cuMulticastCreate can take a shared machine's GPUs out of service.
void multicast_granularity() {
  boot();
  CUmulticastObjectProp p{};
  p.numDevices = 1;
  p.size = MB2;
  p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  std::size_t g = 77;
  CALL(cuMulticastGetGranularity(nullptr, &p, CU_MULTICAST_GRANULARITY_MINIMUM));
  CALL(cuMulticastGetGranularity(&g, nullptr, CU_MULTICAST_GRANULARITY_MINIMUM));
  CALL(cuMulticastGetGranularity(&g, &p, (CUmulticastGranularity_flags)9));
  p.numDevices = 0;
  STEP("no devices", cuMulticastGetGranularity(&g, &p, CU_MULTICAST_GRANULARITY_MINIMUM));
}

void external_memory(int file) {
  CUexternalMemory m = nullptr;
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC d{};
  CALL(cuImportExternalMemory(nullptr, &d));
  CALL(cuImportExternalMemory(&m, nullptr));
  CALL(cuImportExternalMemory(&m, &d));
  d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  d.size = 4096;
  d.handle.fd = file;
  const auto import = [&](const char* what, auto change) {
    const auto description = with(d, change);
    STEP(what, cuImportExternalMemory(&m, &description));
  };
  import("an ordinary file as memory", [](auto&) {});
  import("fd -1", [](auto& c) { c.handle.fd = -1; });
  import("size 0", [](auto& c) { c.size = 0; });
  import("flags 9", [](auto& c) { c.flags = 9; });
  import("a Windows type", [](auto& c) { c.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP; });
}

void external_semaphores(int file, CUstream q) {
  CUexternalSemaphore s = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC e{};
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS sp{};
  CALL(cuImportExternalSemaphore(nullptr, &e));
  CALL(cuImportExternalSemaphore(&s, nullptr));
  CALL(cuImportExternalSemaphore(&s, &e));
  e.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  e.handle.fd = file;
  STEP("an ordinary file as semaphore", cuImportExternalSemaphore(&s, &e));
  e.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE;
  STEP("a Windows semaphore", cuImportExternalSemaphore(&s, &e));
  CUexternalSemaphore none = nullptr;
  CALL(cuSignalExternalSemaphoresAsync(&none, &sp, 1, q));
  CALL(cuSignalExternalSemaphoresAsync(nullptr, &sp, 1, q));
  CALL(cuSignalExternalSemaphoresAsync(nullptr, nullptr, 0, q));
}

void graphics_resources(CUstream q) {
  CUdeviceptr p;
  CUgraphicsResource r = nullptr;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC bd{};
  std::size_t z;
  CALL(cuExternalMemoryGetMappedBuffer(&p, nullptr, &bd));
  CALL(cuGraphicsMapResources(0, nullptr, q));
  CALL(cuGraphicsMapResources(1, nullptr, q));
  CALL(cuGraphicsMapResources(1, &r, q));
  CALL(cuGraphicsResourceSetMapFlags(nullptr, 0));
  CALL(cuGraphicsResourceGetMappedPointer(&p, &z, nullptr));
}

void exported_memory_as_external() {
  constexpr auto as_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUexternalMemory m;
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC d{};
  d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  d.size = MB2;
  SETUP(cuMemExportToShareableHandle(&d.handle.fd, vmm_handle(MB2, as_fd), as_fd, 0));
  STEP("a VMM export as external memory", cuImportExternalMemory(&m, &d));
}

void external_objects() {
  boot();
  CUstream q = stream();
  const int file = open("/dev/null", O_RDWR);
  external_memory(file);
  external_semaphores(file, q);
  graphics_resources(q);
  close(file);
  exported_memory_as_external();
}

void decompress() {
  boot();
  CUstream s = stream();
  CUmemDecompressParams p{};
  std::size_t e = 77;
  CALL(cuMemBatchDecompressAsync(&p, 1, 0, &e, s));
  CALL(cuMemBatchDecompressAsync(&p, 0, 0, &e, s));
  CALL(cuMemBatchDecompressAsync(nullptr, 1, 0, &e, s));
}

}  // namespace

void add_small(CaseList& list) {
  list.chained("coredump_before_init", core_dump_before_init);
  list.chained("profiler", profiler);
  list.independent("checkpoint", checkpoint);
  list.chained("logs_unregister_twice", log_unregistered_twice);
  list.independent("multicast_granularity", multicast_granularity);
  list.independent("external_objects", external_objects);
  list.independent("decompress", decompress);
}

}  // namespace probe

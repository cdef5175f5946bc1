// SPDX-License-Identifier: Apache-2.0
// Entry points: the small interfaces of which only arguments and states are known.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "stream/stream.h"
#include "vmm/reservation.h"

using namespace cufault::sim;

namespace {

// Something that is registered and taken away again by its handle.
template <Kind kind>
struct Registration : Object {
  static constexpr Kind kKind = kind;
};
using Notification = Registration<Kind::async_callback>;
using LogCallback = Registration<Kind::logs_callback>;

struct ExternalMemory : Object {
  static constexpr Kind kKind = Kind::external_memory;
};
struct ExternalSemaphore : Object {
  static constexpr Kind kKind = Kind::external_semaphore;
};

// Recorded (checkpoint): no such process is an error of the operating system; another one is not initialised.
CUresult checkpoint(const char* symbol, int pid) {
  return api(symbol, kAnywhere, [&](Call& call) {
    require(pid > 0 && (kill(pid, 0) == 0 || errno == EPERM), CUDA_ERROR_OPERATING_SYSTEM);
    require(pid == getpid() && call.driver.phase() == Phase::initialised, CUDA_ERROR_NOT_INITIALIZED);
    call.unmodelled("checkpoints");
  });
}

CUresult coredump(const char* symbol, Policy policy, CUcoredumpSettings attribute, void* value, size_t* size) {
  return api(symbol, policy, [&](Call& call) {
    require(value != nullptr && size != nullptr);
    switch (attribute) {
      case CU_COREDUMP_ENABLE_ON_EXCEPTION:
      case CU_COREDUMP_TRIGGER_HOST:
      case CU_COREDUMP_LIGHTWEIGHT:
      case CU_COREDUMP_ENABLE_USER_TRIGGER:
        require(*size >= sizeof(bool));
        *static_cast<bool*>(value) = attribute == CU_COREDUMP_TRIGGER_HOST;
        *size = sizeof(bool);
        break;
      default: call.unmodelled("settings of core dumps other than switches");
    }
  });
}

}  // namespace

CUresult CUDAAPI cuProfilerStart(void) {
  return api(__func__, kPlain, [](Call& call) { (void)call.current(); });
}
CUresult CUDAAPI cuProfilerStop(void) {
  return api(__func__, kPlain, [](Call& call) { (void)call.current(); });
}
CUresult CUDAAPI cuProfilerInitialize(const char*, const char*, CUoutput_mode) {
  return api(__func__, kPlain, [](Call&) { refuse(CUDA_ERROR_NOT_SUPPORTED); });  // recorded
}

CUresult CUDAAPI cuDeviceRegisterAsyncNotification(CUdevice dev, CUasyncCallback function, void* data, CUasyncCallbackHandle* out) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)data;
    require(function != nullptr && out != nullptr);
    (void)call.driver.device(dev);
    *out = static_cast<CUasyncCallbackHandle>(call.driver.handles->insert(Kind::async_callback, std::make_shared<Notification>()));
  });
}

CUresult CUDAAPI cuDeviceUnregisterAsyncNotification(CUdevice dev, CUasyncCallbackHandle handle) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.driver.device(dev);
    call.destroy<Notification>(handle, CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult CUDAAPI cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* out) {
  return api(__func__, kAnywhere, [&](Call& call) {
    (void)data;
    require(function != nullptr && out != nullptr);
    *out = static_cast<CUlogsCallbackHandle>(call.driver.handles->insert(Kind::logs_callback, std::make_shared<LogCallback>()));
  });
}

CUresult CUDAAPI cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return api(__func__, kAnywhere, [&](Call& call) { call.destroy<LogCallback>(handle, CUDA_ERROR_INVALID_VALUE); });
}

CUresult CUDAAPI cuCoredumpGetAttribute(CUcoredumpSettings attribute, void* value, size_t* size) {
  return coredump(__func__, kPlain, attribute, value, size);
}
CUresult CUDAAPI cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void* value, size_t* size) {
  return coredump(__func__, kAnywhere, attribute, value, size);
}

CUresult CUDAAPI cuCheckpointProcessGetState(int pid, CUprocessState* state) {
  if (pid == getpid())
    return api(__func__, kPlain, [&](Call&) {
      require(state != nullptr);
      *state = CU_PROCESS_STATE_RUNNING;
    });
  return checkpoint(__func__, pid);
}
CUresult CUDAAPI cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) {
  if (pid == getpid())
    return api(__func__, kPlain, [&](Call&) {
      require(tid != nullptr);
      *tid = pid;
    });
  return checkpoint(__func__, pid);
}
CUresult CUDAAPI cuCheckpointProcessLock(int pid, CUcheckpointLockArgs*) { return checkpoint(__func__, pid); }
CUresult CUDAAPI cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs*) { return checkpoint(__func__, pid); }
CUresult CUDAAPI cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs*) { return checkpoint(__func__, pid); }
CUresult CUDAAPI cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs*) { return checkpoint(__func__, pid); }

// Recorded (multicast_granularity): this device has no multicast; neither does it decompress.
CUresult CUDAAPI cuMulticastGetGranularity(size_t*, const CUmulticastObjectProp*, CUmulticastGranularity_flags) {
  return api(__func__, kPlain, [](Call&) { refuse(CUDA_ERROR_NOT_SUPPORTED); });
}
CUresult CUDAAPI cuMemBatchDecompressAsync(CUmemDecompressParams*, size_t, unsigned int, size_t*, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    refuse(CUDA_ERROR_NOT_SUPPORTED);
  });
}

CUresult CUDAAPI cuImportExternalMemory(CUexternalMemory* out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && description != nullptr);
    const auto type = description->type;
    require(type >= CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD && type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF);
    require(type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, CUDA_ERROR_NOT_SUPPORTED);
    require(description->size != 0 && description->flags <= CUDA_EXTERNAL_MEMORY_DEDICATED);
    std::size_t size = 0;
    CUmemAllocationProp props{};
    require(read_memory_file(description->handle.fd, size, props), CUDA_ERROR_UNKNOWN);
    *out = static_cast<CUexternalMemory>(call.driver.handles->insert(Kind::external_memory, std::make_shared<ExternalMemory>()));
  });
}

CUresult CUDAAPI cuDestroyExternalMemory(CUexternalMemory handle) {
  return api(__func__, kPlain, [&](Call& call) { call.destroy<ExternalMemory>(handle, CUDA_ERROR_INVALID_VALUE); });
}

CUresult CUDAAPI cuExternalMemoryGetMappedBuffer(CUdeviceptr* out, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && description != nullptr);
    (void)call.use<ExternalMemory>(handle, CUDA_ERROR_INVALID_VALUE);
    call.unmodelled("mappings of external memory");
  });
}

CUresult CUDAAPI cuImportExternalSemaphore(CUexternalSemaphore* out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr && description != nullptr);
    const auto type = description->type;
    require(type >= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD && type <= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32);
    require(type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD || type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
            CUDA_ERROR_NOT_SUPPORTED);
    refuse(CUDA_ERROR_UNKNOWN);  // recorded for a file that is no semaphore; nobody here can make one
  });
}

CUresult CUDAAPI cuDestroyExternalSemaphore(CUexternalSemaphore handle) {
  return api(__func__, kPlain, [&](Call& call) { call.destroy<ExternalSemaphore>(handle, CUDA_ERROR_INVALID_VALUE); });
}

CUresult CUDAAPI cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* list, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params,
                                                 unsigned int count, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    require(list != nullptr && params != nullptr && count != 0);
    for (unsigned i = 0; i < count; ++i) {
      if (list[i] == nullptr) call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null semaphore");
      (void)call.use<ExternalSemaphore>(list[i], CUDA_ERROR_INVALID_VALUE);
    }
  });
}

// No graphics interface registers anything here, so no handle is ever good.
namespace {
struct NoResource : Object {
  static constexpr Kind kKind = Kind::none;
};
void no_resource(const Call& call, const void* handle) { (void)call.use<NoResource>(handle); }
CUresult map_resources(const char* symbol, unsigned count, CUgraphicsResource* list, CUstream handle) {
  return api(symbol, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    require(count != 0 && list != nullptr);
    for (unsigned i = 0; i < count; ++i) no_resource(call, list[i]);
  });
}
}  // namespace

CUresult CUDAAPI cuGraphicsMapResources(unsigned int count, CUgraphicsResource* list, CUstream stream) {
  return map_resources(__func__, count, list, stream);
}
CUresult CUDAAPI cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* list, CUstream stream) {
  return map_resources(__func__, count, list, stream);
}
CUresult CUDAAPI cuGraphicsUnregisterResource(CUgraphicsResource handle) {
  return api(__func__, kPlain, [&](Call& call) { no_resource(call, handle); });
}
CUresult CUDAAPI cuGraphicsResourceSetMapFlags(CUgraphicsResource handle, unsigned int) {
  return api(__func__, kPlain, [&](Call& call) { no_resource(call, handle); });
}
CUresult CUDAAPI cuGraphicsResourceGetMappedPointer(CUdeviceptr*, size_t*, CUgraphicsResource handle) {
  return api(__func__, kPlain, [&](Call& call) { no_resource(call, handle); });
}

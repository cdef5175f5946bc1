// SPDX-License-Identifier: Apache-2.0
// Entry points: flags, limits and configuration of the current context.
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "graph/capture.h"

using namespace cufault::sim;

namespace {

constexpr unsigned kSettableFlags =
    CU_CTX_SCHED_MASK | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS;

// Recorded (context_limits): what each limit accepts and rounds to.
std::size_t accepted(CUlimit limit, std::size_t value) {
  constexpr std::size_t kKiB = 1024;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      require(value <= 512 * kKiB - 16);
      return (value + 15) / 16 * 16;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return std::max(value, 512 * kKiB);
    case CU_LIMIT_MALLOC_HEAP_SIZE: return std::max(value, 4096 * kKiB);
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: refuse(CUDA_ERROR_UNSUPPORTED_LIMIT);
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return std::max<std::size_t>(value, 32);
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: require(value <= 128); return value;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: {
      constexpr std::size_t kStep = 3932160;
      require(value <= 39321600);
      return (value + kStep - 1) / kStep * kStep;
    }
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED: refuse(CUDA_ERROR_NOT_PERMITTED);
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED: refuse(CUDA_ERROR_UNSUPPORTED_LIMIT);
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(flags != nullptr);
    const auto& context = call.current();
    *flags = context->flags | (context->primary || context->parent != nullptr ? unsigned{CU_CTX_MAP_HOST} : 0u);
  });
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto& context = call.current();
    require((flags & ~kSettableFlags) == 0 && (flags & CU_CTX_SCHED_MASK) != 3 && (flags & CU_CTX_SCHED_MASK) <= 4);
    context->flags = flags | (context->flags & CU_CTX_MAP_HOST);
    if (context->primary) context->device.primary_flags = flags;
  });
}

CUresult CUDAAPI cuCtxGetLimit(size_t* value, CUlimit limit) {
  return api(__func__, kPlain, [&](Call& call) {
    require(value != nullptr);
    const auto& context = call.current();
    require(static_cast<unsigned>(limit) <= CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED);  // newer ones are unknown to this driver
    require(limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH && limit != CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED,
            CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
  });
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    refuse_unsafe(call);
    context->limits[limit] = accepted(limit, value);
  });
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache* config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(config != nullptr);
    *config = call.current()->cache;
  });
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(static_cast<unsigned>(config) <= CU_FUNC_CACHE_PREFER_EQUAL);
    call.current()->cache = config;
  });
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(config != nullptr);
    *config = call.current()->bank_size;
  });
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(static_cast<unsigned>(config) <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    (void)call.current();  // recorded: the bank size of this device stays as it is
  });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call.current();
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache(void) {
  return api(__func__, kFaults, [&](Call& call) { (void)call.current(); });
}

CUresult CUDAAPI cuCtxGetExecAffinity(CUexecAffinityParam* parameter, CUexecAffinityType type) {
  return api(__func__, kPlain, [&](Call& call) {
    require(parameter != nullptr);
    const auto& context = call.current();
    require(type == CU_EXEC_AFFINITY_TYPE_SM_COUNT, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    parameter->type = type;
    parameter->param.smCount.val =
        static_cast<unsigned>(context->device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  });
}

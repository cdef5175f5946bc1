// SPDX-License-Identifier: Apache-2.0
// Entry points: how many blocks fit (recorded: occupancy, launch_clusters).
#include <algorithm>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "module/function.h"
#include "module/launch.h"

using namespace cufault::sim;

namespace {

CUresult active_blocks(const char* symbol, int* blocks, CUfunction handle, int block, size_t shared, unsigned flags) {
  return api(symbol, kPlain, [&](Call& call) {
    require(blocks != nullptr && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
    const auto function = function_of(call, handle);
    require(block > 0);
    *blocks = blocks_per_multiprocessor(*function, block, shared);
  });
}

CUresult potential(const char* symbol, int* grid, int* block, CUfunction handle, CUoccupancyB2DSize size, size_t shared, int limit,
                   unsigned flags) {
  return api(symbol, kPlain, [&](Call& call) {
    require(grid != nullptr && block != nullptr && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
    const auto function = function_of(call, handle);
    const int multiprocessors = function->module->context->device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int most = function->kernel->max_threads;
    if (limit > 0) most = std::min(most, limit);
    int best_block = 0, best_blocks = 0, best_threads = 0;
    // Recorded: whole warps, from the largest down, and a smaller block only where more threads fit.
    for (int candidate = most >= 32 ? most / 32 * 32 : most; candidate > 0; candidate -= 32) {
      const int blocks = blocks_per_multiprocessor(*function, candidate, size == nullptr ? shared : size(candidate));
      if (blocks * candidate <= best_threads) continue;
      best_threads = blocks * candidate;
      best_block = candidate;
      best_blocks = blocks;
    }
    *block = best_block;
    *grid = best_blocks * multiprocessors;
  });
}

}  // namespace

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int block, size_t shared) {
  return active_blocks(__func__, blocks, f, block, shared, 0);
}
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int block, size_t shared,
                                                                     unsigned int flags) {
  return active_blocks(__func__, blocks, f, block, shared, flags);
}
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, CUoccupancyB2DSize size, size_t shared, int limit) {
  return potential(__func__, grid, block, f, size, shared, limit, 0);
}
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction f, CUoccupancyB2DSize size, size_t shared,
                                                          int limit, unsigned int flags) {
  return potential(__func__, grid, block, f, size, shared, limit, flags);
}

CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int block) {
  return api(__func__, kPlain, [&](Call& call) {
    if (bytes == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null result");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    const auto function = function_of(call, handle);
    const Device& device = function->module->context->device;
    require(blocks > 0 && block > 0 && block <= device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    require(blocks <= blocks_per_multiprocessor(*function, block, 0));
    const int each = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / blocks -
                     device.attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) - function->kernel->static_shared;
    *bytes = static_cast<size_t>(std::clamp(each, 0, function->attributes.max_dynamic_shared));
  });
}

CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(size != nullptr && config != nullptr);
    *size = function_of(call, handle)->attributes.non_portable != 0 ? 16 : 8;
  });
}

CUresult CUDAAPI cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  return api(__func__, kPlain, [&](Call& call) {
    require(clusters != nullptr && config != nullptr);
    const auto function = function_of(call, handle);
    unsigned blocks = 1;
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        blocks = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y * config->attrs[i].value.clusterDim.z;
    require(blocks != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    const int block = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
    require(block > 0);
    *clusters = blocks_per_multiprocessor(*function, block, config->sharedMemBytes) *
                function->module->context->device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / static_cast<int>(blocks);
  });
}

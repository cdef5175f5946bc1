// SPDX-License-Identifier: Apache-2.0
// Entry points: copies in batches (recorded: copy_batch).
#include <vector>

#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "memory/copy.h"
#include "stream/stream.h"

using namespace cufault::sim;

CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
                                    size_t* first, size_t attribute_count, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(handle != nullptr && handle != CU_STREAM_LEGACY);
    const auto stream = stream_of(call, handle);
    require(to != nullptr && from != nullptr && sizes != nullptr && attributes != nullptr && first != nullptr);
    require(count != 0 && attribute_count != 0 && attribute_count <= count);
    for (std::size_t i = 0; i < attribute_count; ++i) {
      require(i == 0 ? first[i] == 0 : first[i] > first[i - 1] && first[i] < count);
      require(attributes[i].srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && attributes[i].srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    }
    std::vector<std::function<void()>> copies;
    for (std::size_t i = 0; i < count; ++i) {
      require(sizes[i] != 0);
      copies.push_back(plan_copy(call, to[i], End::any, from[i], End::any, sizes[i]));
    }
    refuse_on_capturing(call, *stream);
    for (auto& copy : copies) {
      Operation operation;
      operation.run = std::move(copy);
      submit(call.driver, stream, std::move(operation));
    }
  });
}

CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* list, unsigned long long flags, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    require(count != 0 && list != nullptr && flags == 0);
    call.unmodelled("batches of 3D copies");
  });
}

CUresult CUDAAPI cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count, CUmemLocation* locations, size_t* first,
                                         size_t location_count, unsigned long long flags, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    require(addresses != nullptr && sizes != nullptr && count != 0 && locations != nullptr && first != nullptr && location_count != 0 &&
            flags == 0);
    call.unmodelled("batches of prefetches");
  });
}

CUresult CUDAAPI cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count, unsigned long long flags, CUstream handle) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)stream_of(call, handle);
    require(addresses != nullptr && sizes != nullptr && count != 0 && flags == 0);
    for (std::size_t i = 0; i < count; ++i) {
      const auto allocation = call.driver.memory.find(addresses[i]);
      require(allocation != nullptr && allocation->kind == MemoryKind::managed);
    }
    call.unmodelled("discarding of managed memory");
  });
}

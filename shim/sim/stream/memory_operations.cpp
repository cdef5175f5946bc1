// SPDX-License-Identifier: Apache-2.0
// Entry points and bodies: cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp (recorded: stream_memory_operations).
#include "stream/memory_operations.h"

#include <atomic>

#include "context/context.h"
#include "core/call.h"
#include "graph/capture.h"
#include "graph/graph.h"
#include "memory/address_space.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

std::shared_ptr<Allocation> word(const Call& call, CUdeviceptr address, std::size_t size) {
  const auto allocation = call.driver.memory.find(address);
  require(allocation != nullptr && address % size == 0 && size <= allocation->size - (address - allocation->base));
  return allocation;
}

template <class Word>
bool compare(Word value, Word wanted, unsigned flags) {
  switch (flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH)) {
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<Word>>(value - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (value & wanted) != 0;
    default: return static_cast<Word>(~(value | wanted)) != 0;
  }
}

template <class Word>
Word load(CUdeviceptr address) {
  return __atomic_load_n(reinterpret_cast<const Word*>(address), __ATOMIC_ACQUIRE);
}

template <class Word>
void store(CUdeviceptr address, Word value) {
  __atomic_store_n(reinterpret_cast<Word*>(address), value, __ATOMIC_RELEASE);
}

}  // namespace

void check_memory_operations(const Call& call, const std::vector<CUstreamBatchMemOpParams>& operations) {
  for (const auto& operation : operations) switch (operation.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        (void)word(call, operation.waitValue.address, operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? 4 : 8);
        require((operation.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
        require(operation.waitValue.flags <= CU_STREAM_WAIT_VALUE_NOR);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        (void)word(call, operation.writeValue.address, operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4 : 8);
        require(operation.writeValue.flags == CU_STREAM_WRITE_VALUE_DEFAULT);  // recorded: NO_MEMORY_BARRIER is refused
        break;
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: refuse(CUDA_ERROR_NOT_SUPPORTED);
      case CU_STREAM_MEM_OP_BARRIER: break;
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
}

void submit_memory_operations(Call& call, const std::shared_ptr<Stream>& stream,
                              const std::vector<CUstreamBatchMemOpParams>& operations) {
  check_memory_operations(call, operations);
  for (const auto& wanted : operations) {
    Operation operation;
    switch (wanted.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        operation.condition = [held = word(call, wanted.waitValue.address, 4), wait = wanted.waitValue] {
          return compare<std::uint32_t>(load<std::uint32_t>(wait.address), wait.value, wait.flags);
        };
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        operation.condition = [held = word(call, wanted.waitValue.address, 8), wait = wanted.waitValue] {
          return compare<std::uint64_t>(load<std::uint64_t>(wait.address), wait.value64, wait.flags);
        };
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        operation.run = [held = word(call, wanted.writeValue.address, 4), write = wanted.writeValue] {
          store<std::uint32_t>(write.address, write.value);
        };
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        operation.run = [held = word(call, wanted.writeValue.address, 8), write = wanted.writeValue] {
          store<std::uint64_t>(write.address, write.value64);
        };
        break;
      default: break;
    }
    submit(call.driver, stream, std::move(operation));
  }
}

namespace {

CUresult memory_operations(const char* symbol, CUstream handle, std::vector<CUstreamBatchMemOpParams> operations) {
  return api(symbol, kFaults, [&](Call& call) {
    const auto stream = stream_of(call, handle);
    check_memory_operations(call, operations);
    enqueue(call, stream, BatchWork{stream->context->handle(), 0, std::move(operations)});
  });
}

CUresult one(const char* symbol, CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = type;
  // waitValue and writeValue lie alike.
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return memory_operations(symbol, stream, {operation});
}

}  // namespace

}  // namespace cufault::sim

using namespace cufault::sim;

CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return one(__func__, stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return one(__func__, stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return one(__func__, stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return one(__func__, stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* list, unsigned int flags) {
  if (flags != 0 || (list == nullptr && count != 0))
    return api(__func__, kFaults, [](Call&) { refuse(CUDA_ERROR_INVALID_VALUE); });
  return memory_operations(__func__, stream, std::vector<CUstreamBatchMemOpParams>(list, list + count));
}

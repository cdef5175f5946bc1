// SPDX-License-Identifier: Apache-2.0
// Memory: real bytes, checked ranges, pools, aliases.
#include "driver.h"

#include <array>

namespace {

using Memory = sim_test::Driver;

TEST_F(Memory, copies_move_bytes_there_and_back) {
  std::array<unsigned char, 100> out{}, in{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(i);
  CUdeviceptr a = 0, b = 0;
  OK(cuMemAlloc(&a, out.size()));
  OK(cuMemAlloc(&b, out.size()));
  OK(cuMemcpyHtoD(a, out.data(), out.size()));
  OK(cuMemcpyDtoD(b, a, out.size()));
  OK(cuMemcpyDtoH(in.data(), b, in.size()));
  EXPECT_EQ(in, out);
}

TEST_F(Memory, one_byte_too_many_is_refused_and_reported) {
  CUdeviceptr memory = 0;
  char bytes[65];
  OK(cuMemAlloc(&memory, 64));
  EXPECT_EQ(cuMemcpyDtoH(bytes, memory, 65), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(sim_test::misuses.size(), 1u);
  EXPECT_EQ(sim_test::misuses[0].kind, CUFAULT_MISUSE_OUT_OF_BOUNDS);
}

TEST_F(Memory, a_pool_gives_the_same_stream_its_memory_back) {
  CUmemoryPool pool = nullptr;
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr first = 0, second = 0;
  OK(cuMemAllocAsync(&first, 5000, stream));
  cuuint64_t used = 0;
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 5000u);
  OK(cuMemFreeAsync(first, stream));
  OK(cuMemAllocAsync(&second, 5000, stream));
  EXPECT_EQ(first, second);
  OK(cuMemFreeAsync(second, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
}

TEST_F(Memory, two_mappings_of_one_allocation_are_the_same_memory) {
  constexpr std::size_t kSize = 2u << 20;
  CUmemAllocationProp props{};
  props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  OK(cuMemCreate(&handle, kSize, &props, 0));
  CUdeviceptr base = 0;
  OK(cuMemAddressReserve(&base, 2 * kSize, 0, 0, 0));
  OK(cuMemMap(base, kSize, 0, handle, 0));
  OK(cuMemMap(base + kSize, kSize, 0, handle, 0));
  OK(cuMemRelease(handle));
  EXPECT_EQ(cuMemsetD32(base, 7, 1), CUDA_ERROR_INVALID_VALUE);  // no access yet
  CUmemAccessDesc access{};
  access.location = props.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  OK(cuMemSetAccess(base, 2 * kSize, &access, 1));
  OK(cuMemsetD32(base, 7, 1));
  unsigned value = 0;
  OK(cuMemcpyDtoH(&value, base + kSize, 4));
  EXPECT_EQ(value, 7u);
  OK(cuMemUnmap(base, 2 * kSize));
  OK(cuMemAddressFree(base, 2 * kSize));
}

TEST_F(Memory, more_than_the_device_has_is_out_of_memory) {
  CUdeviceptr memory = 1;
  EXPECT_EQ(cuMemAlloc(&memory, 1ull << 45), CUDA_ERROR_OUT_OF_MEMORY);
  std::size_t free = 0, total = 0, after = 0;
  OK(cuMemGetInfo(&free, &total));
  OK(cuMemAlloc(&memory, 1u << 20));
  OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(free - after, 1u << 20);
}

}  // namespace

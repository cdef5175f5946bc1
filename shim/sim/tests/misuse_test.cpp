// SPDX-License-Identifier: Apache-2.0
// Wrong handles: each is reported, none crashes, and a documented code is answered.
#include "driver.h"

namespace {

using Misuse = sim_test::Driver;

TEST_F(Misuse, a_second_destroy_is_reported_as_one) {
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, 0));
  OK(cuStreamDestroy(stream));
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(sim_test::misuses.size(), 1u);
  EXPECT_EQ(sim_test::misuses[0].kind, CUFAULT_MISUSE_DOUBLE_DESTROY);
  EXPECT_EQ(sim_test::misuses[0].symbol, "cuStreamDestroy_v2");
  EXPECT_EQ(sim_test::misuses[0].handle, reinterpret_cast<std::uint64_t>(stream));
}

TEST_F(Misuse, a_destroyed_handle_is_not_given_out_again_soon) {
  CUstream first = nullptr;
  OK(cuStreamCreate(&first, 0));
  OK(cuStreamDestroy(first));
  for (int i = 0; i < 100; ++i) {
    CUstream next = nullptr;
    OK(cuStreamCreate(&next, 0));
    EXPECT_NE(next, first);
    OK(cuStreamDestroy(next));
  }
}

TEST_F(Misuse, a_handle_of_another_kind_is_none) {
  CUevent event = nullptr;
  OK(cuEventCreate(&event, 0));
  EXPECT_EQ(cuStreamQuery(reinterpret_cast<CUstream>(event)), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(sim_test::misuses.size(), 1u);
  EXPECT_EQ(sim_test::misuses[0].kind, CUFAULT_MISUSE_GARBAGE_HANDLE);
}

TEST_F(Misuse, garbage_is_never_followed) {
  for (const std::uint64_t number : {3ull, 0x1234567812345670ull, ~0ull}) {
    const auto handle = reinterpret_cast<void*>(number);
    EXPECT_EQ(cuStreamSynchronize(static_cast<CUstream>(handle)), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventRecord(static_cast<CUevent>(handle), nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuCtxSetCurrent(static_cast<CUcontext>(handle)), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuGraphDestroy(static_cast<CUgraph>(handle)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(number), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(sim_test::misuses.size(), 15u);
}

TEST_F(Misuse, what_is_not_modelled_says_so) {
  EXPECT_EQ(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(sim_test::unmodelled, testing::ElementsAre("cuCoredumpSetAttribute"));
}

}  // namespace

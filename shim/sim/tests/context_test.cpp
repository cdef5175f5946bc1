// SPDX-License-Identifier: Apache-2.0
// Contexts: stacks, lives, and what a dead one answers.
#include "driver.h"

#include <thread>

namespace {

using Context = sim_test::Driver;

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

TEST_F(Context, each_thread_has_a_stack_of_its_own) {
  CUcontext made = nullptr;
  OK(cuCtxCreate(&made, nullptr, 0, 0));
  EXPECT_EQ(current(), made);
  std::thread([] { EXPECT_EQ(current(), nullptr); }).join();
  OK(cuCtxDestroy(made));
  EXPECT_EQ(current(), primary);
}

TEST_F(Context, the_primary_context_comes_back_under_its_handle) {
  CUstream old = nullptr;
  OK(cuStreamCreate(&old, 0));
  OK(cuDevicePrimaryCtxReset(0));
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, primary);
  OK(cuMemAlloc(&memory, 64));
  // What was made in the life before stays dead.
  EXPECT_EQ(cuStreamQuery(old), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamDestroy(old), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(Context, a_context_destroyed_elsewhere_stays_current_and_says_so) {
  CUcontext made = nullptr;
  OK(cuCtxCreate(&made, nullptr, 0, 0));
  std::thread([made] { EXPECT_EQ(cuCtxDestroy(made), CUDA_SUCCESS); }).join();
  EXPECT_EQ(current(), made);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(Context, devices_are_told_apart) {
  CUcontext other = nullptr;
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  EXPECT_NE(other, primary);
  OK(cuCtxPushCurrent(other));
  CUdevice device = -1;
  OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  OK(cuDevicePrimaryCtxRelease(1));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Streams: order, waiting, functions of the application.
#include "driver.h"

#include <atomic>
#include <string>

namespace {

using Stream = sim_test::Driver;

// A function that holds a stream until it is let go.
struct Gate {
  std::atomic<bool> open{false};
  static void hold(void* gate) {
    while (!static_cast<Gate*>(gate)->open) {
    }
  }
};

TEST_F(Stream, work_waits_for_the_function_before_it) {
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 4));
  OK(cuMemsetD32(memory, 1, 1));
  Gate gate;
  OK(cuLaunchHostFunc(stream, Gate::hold, &gate));
  OK(cuMemsetD32Async(memory, 2, 1, stream));
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  unsigned value = 0;
  OK(cuMemcpyDtoH(&value, memory, 4));  // another stream, which this one does not hold up
  EXPECT_EQ(value, 1u);
  gate.open = true;
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(&value, memory, 4));
  EXPECT_EQ(value, 2u);
}

TEST_F(Stream, the_legacy_stream_and_blocking_streams_wait_for_each_other) {
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  Gate gate;
  OK(cuLaunchHostFunc(stream, Gate::hold, &gate));
  CUevent event = nullptr;
  OK(cuEventCreate(&event, 0));
  OK(cuEventRecord(event, nullptr));
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.open = true;
  OK(cuEventSynchronize(event));
}

TEST_F(Stream, an_event_carries_order_to_another_stream) {
  CUstream first = nullptr, second = nullptr;
  OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  OK(cuEventCreate(&event, 0));
  Gate gate;
  OK(cuLaunchHostFunc(first, Gate::hold, &gate));
  OK(cuEventRecord(event, first));
  OK(cuStreamWaitEvent(second, event, 0));
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  gate.open = true;
  OK(cuStreamSynchronize(second));
}

TEST_F(Stream, short_functions_of_many_streams_run_in_the_order_of_submission) {
  static std::string order;
  order.clear();
  const auto note = [](void* name) { order += static_cast<const char*>(name); };
  CUstream streams[3];
  for (CUstream& stream : streams) OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const char* names[] = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 6; ++i) OK(cuLaunchHostFunc(streams[i % 3], note, const_cast<char*>(names[i])));
  for (CUstream stream : streams) OK(cuStreamSynchronize(stream));
  EXPECT_EQ(order, "abcdef");
}

TEST_F(Stream, a_destroyed_stream_still_finishes_its_work) {
  static std::atomic<int> ran;
  ran = 0;
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Gate gate;
  OK(cuLaunchHostFunc(stream, Gate::hold, &gate));
  OK(cuLaunchHostFunc(stream, [](void*) { ++ran; }, nullptr));
  OK(cuStreamDestroy(stream));
  EXPECT_EQ(ran, 0);
  gate.open = true;
  OK(cuCtxSynchronize());
  EXPECT_EQ(ran, 1);
}

TEST_F(Stream, a_driver_call_in_a_host_function_is_not_permitted) {
  static std::atomic<int> answer;
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, 0));
  OK(cuLaunchHostFunc(stream, [](void*) { CUdeviceptr memory = 0; answer = cuMemAlloc(&memory, 4); }, nullptr));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(answer, CUDA_ERROR_NOT_PERMITTED);
}

}  // namespace

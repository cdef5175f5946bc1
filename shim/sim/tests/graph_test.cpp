// SPDX-License-Identifier: Apache-2.0
// Graphs: parameters of nodes, launches, captures, user objects.
#include "driver.h"

#include <atomic>

namespace {

using Graph = sim_test::Driver;

CUDA_MEMSET_NODE_PARAMS fill(CUdeviceptr memory, unsigned value) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = memory;
  params.elementSize = 4;
  params.width = params.height = 1;
  params.value = value;
  return params;
}

unsigned read(CUdeviceptr memory) {
  unsigned value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, memory, 4), CUDA_SUCCESS);
  return value;
}

TEST_F(Graph, an_instantiated_graph_keeps_its_parameters_when_the_node_changes) {
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 4));
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr;
  auto params = fill(memory, 5);
  OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, primary));
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, 0));
  params.value = 6;
  OK(cuGraphMemsetNodeSetParams(node, &params));
  CUDA_MEMSET_NODE_PARAMS got{};
  OK(cuGraphMemsetNodeGetParams(node, &got));
  EXPECT_EQ(got.value, 6u);
  OK(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(read(memory), 5u);
  OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, primary));
  OK(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(read(memory), 6u);
}

TEST_F(Graph, nodes_run_after_what_they_depend_on) {
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 4));
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNode first = nullptr, second = nullptr;
  auto late = fill(memory, 2), early = fill(memory, 1);
  OK(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &late, primary));
  OK(cuGraphAddMemsetNode(&second, graph, nullptr, 0, &early, primary));
  OK(cuGraphAddDependencies(graph, &second, &first, nullptr, 1));
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(read(memory), 2u);
}

TEST_F(Graph, a_capture_becomes_a_graph_that_runs_later) {
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 4));
  OK(cuMemsetD32(memory, 1, 1));
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuMemsetD32Async(memory, 9, 1, stream));
  CUgraph graph = nullptr;
  OK(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(read(memory), 1u);
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(memory), 9u);
}

TEST_F(Graph, a_user_object_lives_until_its_last_holder_goes) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  OK(cuUserObjectCreate(&object, nullptr, [](void*) { ++destroyed; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  OK(cuGraphExecDestroy(exec));
  while (destroyed == 0) {
  }
  EXPECT_EQ(destroyed, 1);
}

}  // namespace

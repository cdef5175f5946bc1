// SPDX-License-Identifier: Apache-2.0
// States of the process: before initialisation, in a forked child, after a fault, at exit. Each in a child of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "driver.h"

namespace {

// The exit status of a child that runs the function.
int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(100);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

CUresult allocate() {
  CUdeviceptr memory = 0;
  return cuMemAlloc(&memory, 4);
}

void begin() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS)
    std::_Exit(99);
}

TEST(ProcessState, before_initialisation_nothing_works) {
  EXPECT_EQ(in_child([] { std::_Exit(allocate()); }), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(ProcessState, a_forked_child_of_an_initialised_process_is_not_initialised) {
  const auto forked = [] { return in_child([] { std::_Exit(cuInit(0)); }); };
  EXPECT_EQ(in_child([&] { begin(); std::_Exit(forked()); }), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(ProcessState, exit_handlers_older_than_the_driver_find_it_gone) {
  EXPECT_EQ(in_child([] {
              std::atexit([] { std::_Exit(allocate()); });
              begin();
              std::exit(0);
            }),
            CUDA_ERROR_DEINITIALIZED);
}

TEST(ProcessState, exit_handlers_younger_than_the_driver_still_find_it) {
  EXPECT_EQ(in_child([] {
              begin();
              std::atexit([] { std::_Exit(allocate()); });
              std::exit(99);
            }),
            CUDA_SUCCESS);
}

const char* const kFaults =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry wild() { .reg .b64 %a; .reg .b32 %v; mov.u64 %a, 64; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }\n"
    ".visible .entry stop() { trap; ret; }\n";

// The code that a kernel's fault leaves behind.
int fault_of(const char* kernel) {
  return in_child([kernel] {
    begin();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (cuModuleLoadData(&module, kFaults) != CUDA_SUCCESS || cuModuleGetFunction(&function, module, kernel) != CUDA_SUCCESS) std::_Exit(98);
    if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) std::_Exit(97);
    const CUresult first = cuCtxSynchronize();
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || cuStreamQuery(nullptr) != first || allocate() != first) std::_Exit(96);
    std::_Exit(first % 256);
  });
}

TEST(ProcessState, a_wild_store_faults_and_the_fault_stays) { EXPECT_EQ(fault_of("wild"), CUDA_ERROR_ILLEGAL_ADDRESS % 256); }

TEST(ProcessState, a_trap_faults_with_another_code) { EXPECT_EQ(fault_of("stop"), CUDA_ERROR_LAUNCH_FAILED % 256); }

}  // namespace

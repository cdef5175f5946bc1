// SPDX-License-Identifier: Apache-2.0
// What the tests of the simulated driver share: a current primary context, and what the simulator reports.
#pragma once

#include <cuda.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cufault/sim_host.h"
#include "cufault/trace_format.h"

namespace sim_test {

struct Misuse {
  unsigned kind;
  std::string symbol;
  std::uint64_t handle;
};

inline std::vector<Misuse> misuses;
inline std::vector<std::string> unmodelled;

// Attaches once a process, before the first driver call.
inline void attach() {
  static const bool done = [] {
    cufault_sim_host host{};
    host.version = CUFAULT_SIM_HOST_VERSION;
    host.device_count = 2;
    host.unmodelled = [](const char* symbol, const char*) { unmodelled.emplace_back(symbol); };
    host.misuse = [](std::uint32_t kind, const char* symbol, std::uint64_t handle, const char*) {
      misuses.push_back({kind, symbol, handle});
    };
    return cufault_sim_attach(&host) == 0;
  }();
  ASSERT_TRUE(done);
}

#define OK(call) ASSERT_EQ(call, CUDA_SUCCESS)

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    attach();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    misuses.clear();
    unmodelled.clear();
  }
  void TearDown() override {
    OK(cuDevicePrimaryCtxReset(0));
    while (cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS) {
    }
    CUcontext popped = nullptr;
    while (cuCtxPopCurrent(&popped) == CUDA_SUCCESS) {
    }
  }

  CUcontext primary = nullptr;
};

}  // namespace sim_test

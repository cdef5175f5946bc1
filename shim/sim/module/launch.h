// SPDX-License-Identifier: Apache-2.0
// Launches: what is checked, and what a kernel does when it runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/work.h"

namespace cufault::sim {

class Call;
struct Function;

// The work of a kernel node: its limits and parameters are checked.
[[nodiscard]] KernelWork kernel_work(Call& call, const CUDA_KERNEL_NODE_PARAMS* params);
// The same for a function that was found already. Refuses as recorded (launch_parameters, launch_clusters).
[[nodiscard]] KernelWork kernel_work(Call& call, std::shared_ptr<Function> function, const CUDA_KERNEL_NODE_PARAMS& params,
                                     const CUlaunchAttribute* attributes, unsigned count);
// What runs: interpreted PTX, or nothing for code that only a GPU can compute.
[[nodiscard]] std::function<void()> plan_kernel(Call& call, const KernelWork& kernel);
// How many blocks of a function fit a multiprocessor at once (recorded: occupancy).
[[nodiscard]] int blocks_per_multiprocessor(const Function& function, int block, std::size_t dynamic_shared);

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// What a kernel does when it runs.
#pragma once

#include <functional>

#include "graph/work.h"

namespace cufault::sim {

class Call;

[[nodiscard]] std::function<void()> plan_kernel(const Call& call, const KernelWork& kernel);

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// All captures that have not ended.
#pragma once

#include <memory>
#include <vector>

namespace cufault::sim {

struct Capture;

// Guarded by the driver's lock; never destroyed.
[[nodiscard]] std::vector<std::shared_ptr<Capture>>& captures() noexcept;

}  // namespace cufault::sim

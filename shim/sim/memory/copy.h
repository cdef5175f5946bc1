// SPDX-License-Identifier: Apache-2.0
// Copies and fills: which are refused, and the bytes they move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/api.h"

namespace cufault::sim {

class Call;

// How strictly a one-dimensional copy takes its ends.
enum class End : std::uint8_t { device, host, any };

// Checks a copy and returns what moves the bytes; an empty function if there are none to move. The memory that the
// driver knows is held until the function is gone. Refuses with INVALID_VALUE.
[[nodiscard]] std::function<void()> plan_copy(const Call& call, CUdeviceptr to, End to_end, CUdeviceptr from, End from_end,
                                              std::size_t size);
[[nodiscard]] std::function<void()> plan_copy(const Call& call, const CUDA_MEMCPY3D& copy);
[[nodiscard]] std::function<void()> plan_set(const Call& call, const CUDA_MEMSET_NODE_PARAMS& set);

// The one-dimensional copy as the general one: what a graph node holds.
[[nodiscard]] CUDA_MEMCPY3D as_copy(CUdeviceptr to, End to_end, CUdeviceptr from, End from_end, std::size_t size);

}  // namespace cufault::sim

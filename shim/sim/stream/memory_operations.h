// SPDX-License-Identifier: Apache-2.0
// Writes to, and waits for, words of memory in order of a stream.
#pragma once

#include <memory>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

class Call;
struct Stream;

// Refuses with INVALID_VALUE or NOT_SUPPORTED.
void check_memory_operations(const Call& call, const std::vector<CUstreamBatchMemOpParams>& operations);
void submit_memory_operations(Call& call, const std::shared_ptr<Stream>& stream,
                              const std::vector<CUstreamBatchMemOpParams>& operations);

}  // namespace cufault::sim

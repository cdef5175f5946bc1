// SPDX-License-Identifier: Apache-2.0
// Cubins and fat binaries: names, parameters and variables. Their code does not run here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace cufault::sim {

struct Image;

[[nodiscard]] bool is_binary(const void* bytes) noexcept;
[[nodiscard]] std::size_t binary_size(const void* bytes) noexcept;
// Refuses with INVALID_IMAGE or NO_BINARY_FOR_GPU.
[[nodiscard]] std::shared_ptr<const Image> read_binary(const void* bytes, std::string& log);

}  // namespace cufault::sim

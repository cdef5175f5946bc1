// SPDX-License-Identifier: Apache-2.0
// The nearest right name for a wrong one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace cufault::judge {

// Levenshtein distance in bytes, letters compared without case.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

// The candidate of least distance, the first of equals; empty if there is no candidate.
[[nodiscard]] std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> candidates);

}  // namespace cufault::judge

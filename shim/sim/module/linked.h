// SPDX-License-Identifier: Apache-2.0
// What cuLinkComplete gives: the linked texts in a wrapper of our own, since nothing here makes machine code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cufault::sim {

[[nodiscard]] std::string make_linked(const std::vector<std::string>& texts);
[[nodiscard]] bool is_linked(const void* bytes) noexcept;
[[nodiscard]] std::size_t linked_size(const void* bytes) noexcept;
[[nodiscard]] std::vector<std::string> linked_texts(const void* bytes);

}  // namespace cufault::sim

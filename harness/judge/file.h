// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#pragma once

#include <string>
#include <string_view>

namespace cufault::judge {

// Throws file_error.
[[nodiscard]] std::string read_file(const std::string& path);

// Replaces the file. Throws file_error.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace cufault::judge

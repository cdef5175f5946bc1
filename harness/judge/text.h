// SPDX-License-Identifier: Apache-2.0
// Texts: how calls are written, and what a text that a library showed speaks of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace.h"

namespace cufault::judge {

// "0x55d0"
[[nodiscard]] std::string hex(std::uint64_t value);

// "cuStreamDestroy_v2(hStream=0x55d0) -> CUDA_ERROR_INVALID_CONTEXT (injected by f1)"
[[nodiscard]] std::string render(const event& call, const trace& source);

// The text has that word, bounded by anything that is no letter, digit or underscore.
[[nodiscard]] bool has_word(std::string_view text, std::string_view word);

// The text has that name as a function's: alone, or with a suffix "_v2", "_ptsz" of one of its ABI variants.
[[nodiscard]] bool names_function(std::string_view text, std::string_view function);

// An entry point of each driver function that the text names.
[[nodiscard]] std::vector<const api::symbol*> functions_named_in(std::string_view text);

// The text has the number, written decimal or "0x..." and not part of a longer word.
[[nodiscard]] bool has_number(std::string_view text, std::uint64_t value);

// The text has the number where it speaks of an error: "error 201", "code=201", "(CUresult 201)".
[[nodiscard]] bool has_error_number(std::string_view text, std::uint64_t value);

// Letters compared without case.
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Not longer than `most` bytes, with "..." where something was left out.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = 300);

}  // namespace cufault::judge

/* SPDX-License-Identifier: Apache-2.0 */
/* Matches a module's basename against a rule's glob. fnmatch(3) may allocate and read the locale, so it cannot be used
 * here. */
#ifndef CUFAULT_LIBC_GLOB_H
#define CUFAULT_LIBC_GLOB_H

#include <cstddef>
#include <string_view>

namespace cufault::libc {

namespace detail {

/* The set that begins behind '[' at `at`: whether it holds `letter`, and where the pattern goes on; 0 if it never ends.
 */
constexpr std::size_t match_set(std::string_view pattern, std::size_t at, char letter, bool& holds) noexcept {
  const bool inverted = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (inverted) ++at;
  holds = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      holds = holds != inverted;
      return at + 1;
    }
    const char low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    holds = holds || (low <= letter && letter <= high);
  }
  return 0;
}

/* One letter against the pattern at `at`: where the pattern goes on, or 0 if it does not match. */
constexpr std::size_t match_one(std::string_view pattern, std::size_t at, char letter) noexcept {
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] == '[') {
    bool holds = false;
    const std::size_t next = match_set(pattern, at + 1, letter, holds);
    if (next != 0) return holds ? next : 0;
  }
  return pattern[at] == letter ? at + 1 : 0;
}

}  // namespace detail

/* `*`, `?`, `[a-z]`, `[!x]`; a set that never ends is taken as its letters. Linear in practice: one star is remembered.
 */
constexpr bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  for (std::size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = t;
      continue;
    }
    const std::size_t next = p < pattern.size() ? detail::match_one(pattern, p, text[t]) : 0;
    if (next != 0) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cufault::libc

#endif

// SPDX-License-Identifier: Apache-2.0
// The nearest right name for a wrong one.
#include "nearest.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <vector>

namespace cufault::judge {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(left[i - 1]) == lower(right[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(wrong, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace cufault::judge

/* SPDX-License-Identifier: Apache-2.0 */
/* Which loaded module an address lies in. */
#ifndef CUFAULT_PROCESS_MODULES_H
#define CUFAULT_PROCESS_MODULES_H

#include <string_view>

namespace cufault::process {

/* `*` stands for any run of letters, `?` for one. */
[[nodiscard]] constexpr bool matches_glob(std::string_view text, std::string_view glob) noexcept {
  std::size_t t = 0, g = 0, star = glob.size(), resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t]) && glob[g] != '*') {
      ++t;
      ++g;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (star < glob.size()) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

/* Whether the module's file name, without its folders, matches; the program itself goes by the name of its file. */
[[nodiscard]] bool in_module(const void *address, std::string_view glob) noexcept;

}  // namespace cufault::process

#endif

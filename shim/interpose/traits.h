/* SPDX-License-Identifier: Apache-2.0 */
/* What of an entry point concerns the shim beyond its rules, in one byte looked up by its index. */
#ifndef CUFAULT_INTERPOSE_TRAITS_H
#define CUFAULT_INTERPOSE_TRAITS_H

#include <cstdint>

#include "cufault/api_table.h"

namespace cufault::interpose {

enum trait : std::uint8_t {
  switches_context = 1, /* may make another context current */
  moves_handles = 2,    /* makes, retains or ends an object */
  looks_up = 4,         /* cuGetProcAddress */
  gives_table = 8       /* cuGetExportTable */
};

namespace detail {

struct trait_table {
  std::uint8_t of[api::symbol_count];
};

constexpr trait_table make_trait_table() noexcept {
  trait_table table{};
  for (std::uint32_t i = 0; i < api::symbol_count; ++i) {
    const api::symbol_info &symbol = api::symbols[i];
    const api::function_info &function = api::function_of(symbol);
    unsigned traits = 0;
    if (function.switches != api::context_switch::none) traits |= switches_context;
    for (const api::role &role : api::roles_of(symbol)) {
      if (role.verb == api::role_verb::makes || role.verb == api::role_verb::retains || role.verb == api::role_verb::destroys)
        traits |= moves_handles;
    }
    if (std::string_view(function.name) == "cuGetProcAddress") traits |= looks_up;
    if (std::string_view(function.name) == "cuGetExportTable") traits |= gives_table;
    table.of[i] = static_cast<std::uint8_t>(traits);
  }
  return table;
}

inline constexpr trait_table traits = make_trait_table();

}  // namespace detail

constexpr std::uint8_t traits_of(std::uint32_t symbol) noexcept { return detail::traits.of[symbol]; }

}  // namespace cufault::interpose

#endif

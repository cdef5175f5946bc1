/* SPDX-License-Identifier: Apache-2.0 */
/* Where an entry point's handles are, reduced at compile time to what a call needs. */
#ifndef CUFAULT_FAULTS_HANDLE_ROLES_H
#define CUFAULT_FAULTS_HANDLE_ROLES_H

#include <cstdint>
#include <cstring>
#include <string_view>

#include "cufault/api_table.h"

namespace cufault::faults {

/* A handle that the driver writes through a pointer argument. */
struct out_handle {
  std::uint8_t arg;
  std::uint8_t width; /* bytes */
  api::handle_kind kind;
  api::role_verb verb;
};

constexpr std::size_t most_outs = 4;

struct out_handles {
  std::uint8_t count;
  out_handle at[most_outs];
};

namespace detail {

/* Handles are words, but for the few that are numbers of 32 bits. */
constexpr std::uint8_t width_of(std::string_view pointer_type) noexcept {
  for (const std::string_view narrow : {"CUdevice *", "CUdeviceptr_v1 *", "int *", "unsigned int *"}) {
    if (pointer_type == narrow) return 4;
  }
  return 8;
}

struct out_table {
  out_handles of[api::symbol_count];
};

constexpr out_table make_out_table() noexcept {
  out_table table{};
  for (std::uint32_t symbol = 0; symbol < api::symbol_count; ++symbol) {
    for (const api::role &role : api::roles_of(api::symbols[symbol])) {
      out_handles &outs = table.of[symbol];
      // A handle inside a structure is found by whoever knows the structure.
      if (!role.out || role.field != nullptr || outs.count == most_outs) continue;
      const api::parameter &parameter = api::params_of(api::symbols[symbol])[role.arg];
      outs.at[outs.count++] = {role.arg, width_of(parameter.type), role.kind, role.verb};
    }
  }
  return table;
}

inline constexpr out_table outs = make_out_table();

}  // namespace detail

constexpr const out_handles &outs_of(std::uint32_t symbol) noexcept { return detail::outs.of[symbol]; }

/* What the driver wrote; valid after success only. 0 where the caller passed null. */
inline std::uint64_t read_out(const out_handle &out, const std::uint64_t *args) noexcept {
  const void *const from = reinterpret_cast<const void *>(args[out.arg]);
  std::uint64_t value = 0;
  if (from != nullptr) std::memcpy(&value, from, out.width);
  return value;
}

/* A primary context is a context wherever one is asked for. */
constexpr bool same_kind(api::handle_kind one, api::handle_kind other) noexcept {
  const auto plain = [](api::handle_kind kind) {
    return kind == api::handle_kind::primary_context ? api::handle_kind::context : kind;
  };
  return plain(one) == plain(other);
}

/*
 * Calls `visit(kind, verb, value)` for each handle that a call is given, until it answers true. Arrays that the
 * application passes are read as far as its own count says; handles inside structures are not looked at.
 */
template <class Visit>
bool any_given_handle(std::uint32_t symbol, const std::uint64_t *args, Visit visit) noexcept {
  constexpr std::uint64_t most_of_an_array = 4096;
  for (const api::role &role : api::roles_of(api::symbols[symbol])) {
    if (role.out || role.field != nullptr) continue;
    if (!role.pointer) {
      if (visit(role.kind, role.verb, args[role.arg])) return true;
      continue;
    }
    const auto *const array = reinterpret_cast<const std::uint64_t *>(args[role.arg]);
    const std::uint64_t count = role.count == api::no_arg ? 1 : args[role.count];
    if (array == nullptr || count > most_of_an_array) continue;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (visit(role.kind, role.verb, array[i])) return true;
    }
  }
  return false;
}

}  // namespace cufault::faults

#endif

// SPDX-License-Identifier: Apache-2.0
// Substitution by address: versions, per-thread variants and not-found answers stay the driver's own.
#include "lookups.h"

#include <algorithm>
#include <string_view>

#include "cufault/api_table.h"
#include "shim.h"
#include "slots.h"
#include "threads.h"

namespace cufault::interpose {
namespace {

constexpr std::uint32_t four_arguments = api::symbol_index("cuGetProcAddress");
static_assert(four_arguments < api::symbol_count);

// No driver has it, and its answer for it is the one that it gives for every function that it lacks.
constexpr const char *no_such_function = "cuCufaultNoSuchFunction";

struct address {
  std::uintptr_t at;
  std::uint32_t symbol;
};
constinit address addresses[api::symbol_count] = {};
constinit std::size_t address_count = 0;

// Several symbols may share an address; then the one of the function that was asked for is meant.
std::uint32_t symbol_at(const void *function, std::string_view asked) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(function);
  const address *const begin = addresses;
  const address *const end = begin + address_count;
  const address *each = std::lower_bound(begin, end, at, [](const address &one, std::uintptr_t key) { return one.at < key; });
  std::uint32_t best = api::symbol_count;
  for (; each != end && each->at == at; ++each) {
    if (best == api::symbol_count || api::function_of(api::symbols[each->symbol]).name == asked) best = each->symbol;
  }
  return best;
}

std::int32_t ask_driver(const call &call, const char *name) noexcept {
  const std::uint64_t *const args = call.args;
  const auto at = reinterpret_cast<void **>(args[1]);
  const auto version = static_cast<int>(args[2]);
  if (call.symbol == four_arguments) {
    using function = std::int32_t (*)(const char *, void **, int, std::uint64_t);
    return reinterpret_cast<function>(backend_functions[call.symbol])(name, at, version, args[3]);
  }
  using function = std::int32_t (*)(const char *, void **, int, std::uint64_t, void *);
  return reinterpret_cast<function>(backend_functions[call.symbol])(name, at, version, args[3], reinterpret_cast<void *>(args[4]));
}

}  // namespace

void remember_addresses(void *const *functions, const void *absent) noexcept {
  address_count = 0;
  for (std::uint32_t i = 0; i < api::symbol_count; ++i) {
    if (functions[i] != absent) addresses[address_count++] = {reinterpret_cast<std::uintptr_t>(functions[i]), i};
  }
  std::sort(addresses, addresses + address_count, [](const address &one, const address &other) {
    return one.at != other.at ? one.at < other.at : one.symbol < other.symbol;
  });
}

std::int32_t finish_lookup(call &call, std::int32_t real) noexcept {
  const auto *const name = reinterpret_cast<const char *>(call.args[0]);
  auto *const found = reinterpret_cast<void **>(call.args[1]);
  if (name == nullptr || found == nullptr) return real;
  std::uint32_t kind = CUFAULT_LOOKUP_NOT_FOUND;
  std::uint32_t symbol = 0;
  std::int32_t given = real;
  if (*found != nullptr) {
    symbol = symbol_at(*found, name);
    if (symbol == api::symbol_count) {
      kind = CUFAULT_LOOKUP_PASSED;
      symbol = 0;
    } else if (const std::uint32_t rule = the_shim.faults.fire_missing(symbol); rule != 0) {
      kind = CUFAULT_LOOKUP_HIDDEN;
      given = ask_driver(call, no_such_function);
      call.rule = rule;
      call.flags |= CUFAULT_CALL_INJECTED;
    } else {
      kind = CUFAULT_LOOKUP_REPLACED;
      *found = cufault_trampolines[symbol];
    }
  }
  if (the_shim.trace.started()) {
    trace::text_fields fields;
    fields.type = CUFAULT_RECORD_LOOKUP;
    fields.kind = kind;
    fields.symbol = symbol;
    fields.value = static_cast<std::uint64_t>(call.args[2]);
    fields.other = call.args[3];
    fields.text = name;
    the_shim.trace.write_text(call.by->log, the_shim.faults.open_step(), fields);
  }
  return given;
}

void note_export_table(const call &call, std::int32_t real) noexcept {
  const auto *const identity = reinterpret_cast<const unsigned char *>(call.args[1]);
  if (real != 0 || identity == nullptr || !the_shim.trace.started()) return;
  process::text<64> hex;
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::size_t i = 0; i < 16; ++i) {
    hex << digits.substr(identity[i] >> 4, 1) << digits.substr(identity[i] & 15, 1);
  }
  trace::text_fields fields;
  fields.kind = CUFAULT_NOTE_EXPORT_TABLE;
  fields.symbol = call.symbol;
  fields.text = hex.view();
  the_shim.trace.write_text(call.by->log, the_shim.faults.open_step(), fields);
}

}  // namespace cufault::interpose

// SPDX-License-Identifier: Apache-2.0
// Prints every table of api_table.h through the header's own look-ups, for test_api_table.py to compare with the spec.
#include <cufault/api_table.h>

#include <cstdio>
using namespace cufault::api;
int main() {
  std::printf("%016llx\n", static_cast<unsigned long long>(api_hash));
  for (const symbol_info& symbol : symbols) {
    if (find_symbol(symbol.name) != &symbol) return 1;
    std::printf("%s %s %d %d%d%d", symbol.name, function_of(symbol).name, symbol.since, symbol.per_thread,
                symbol.returns_result, symbol.known_signature);
    for (const parameter& param : params_of(symbol)) std::printf(" (%s)%s", param.type, param.name);
    for (const role& r : roles_of(symbol)) {
      std::printf(" %s:%s:%s:%d:%d:%d:%d:%d%d:%s", verb_names[static_cast<int>(r.verb)],
                  kind_names[static_cast<int>(r.kind)], flavour_names[static_cast<int>(r.flavour)], r.arg, r.count,
                  r.times, r.holder, r.pointer, r.out, r.field ? r.field : "");
    }
    std::puts("");
  }
  for (const function_info& function : functions) {
    if (find_function(function.name) != &function) return 2;
    std::printf("%s %x %d%d %d%d %d", function.name, function.classes, static_cast<int>(function.context),
                static_cast<int>(function.switches), function.may_block, function.may_call_back,
                static_cast<int>(function.after_sticky_fault));
    for (const auto index : results_of(function)) std::printf(" %s", results[index].name);
    for (const auto index : symbols_of(function)) std::printf(" %s", symbols[index].name);
    std::puts("");
  }
  for (const result_info& result : results) {
    if (find_result(result.name) != &result || find_result(result.value) != &result) return 3;
    std::printf("%s %d %d %s\n", result.name, result.value, static_cast<int>(result.sticky), result.description);
  }
  for (std::uint32_t kind = 0; kind < kind_count; ++kind) {
    if (kind_index(kind_names[kind]) != kind) return 4;
    std::printf("%s %d", kind_names[kind], kinds[kind].owned);
    for (std::uint32_t owner = 0; owner < kind_count; ++owner) {
      if ((kinds[kind].dies_with >> owner & 1) != 0) std::printf(" %s", kind_names[owner]);
    }
    std::puts("");
  }
  const bool absent = find_symbol("") == nullptr && find_symbol("zzz") == nullptr &&
                      find_function("cuStreamDestroy_v2") == nullptr && find_result("CUDA_") == nullptr &&
                      find_result(-1) == nullptr && kind_index("steam") == kind_count;
  return absent ? 0 : 5;
}

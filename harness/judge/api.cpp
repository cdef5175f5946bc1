// SPDX-License-Identifier: Apache-2.0
// The driver API as the judge sees it, built once from the generated tables.
#include "api.h"

#include <cufault/api_table.h>

#include <algorithm>

namespace cufault::judge::api {

namespace {

namespace table = ::cufault::api;

int position(std::uint8_t argument) { return argument == table::no_arg ? -1 : int{argument}; }

verb verb_of(table::role_verb value) {
  switch (value) {
    case table::role_verb::makes:
      return verb::makes;
    case table::role_verb::finds:
      return verb::finds;
    case table::role_verb::uses:
      return verb::uses;
    case table::role_verb::destroys:
      return verb::destroys;
    case table::role_verb::retains:
      return verb::retains;
    case table::role_verb::releases:
      return verb::releases;
  }
  return verb::uses;
}

switches switches_of(table::context_switch value) {
  switch (value) {
    case table::context_switch::none:
      return switches::none;
    case table::context_switch::set:
      return switches::set;
    case table::context_switch::push:
      return switches::push;
    case table::context_switch::pop:
      return switches::pop;
    case table::context_switch::create:
      return switches::create;
    case table::context_switch::destroy:
      return switches::destroy;
  }
  return switches::none;
}

context_need need_of(table::context_need value) {
  switch (value) {
    case table::context_need::ignores:
      return context_need::ignores;
    case table::context_need::needs:
      return context_need::needs;
    case table::context_need::switches:
      return context_need::switches;
  }
  return context_need::ignores;
}

std::vector<symbol> make_symbols() {
  std::vector<symbol> made;
  made.reserve(table::symbol_count);
  for (const table::symbol_info& info : table::symbols) {
    const table::function_info& function = table::function_of(info);
    symbol entry;
    entry.name = info.name;
    entry.function = function.name;
    entry.classes = function.classes;
    entry.context = need_of(function.context);
    entry.switching = switches_of(function.switches);
    for (const table::parameter& parameter : table::params_of(info)) entry.params.emplace_back(parameter.name);
    for (const table::role& source : table::roles_of(info)) {
      // A handle inside a structure is in no record: the trace holds what pointers point to only for plain handles.
      if (source.field != nullptr) continue;
      entry.roles.push_back({verb_of(source.verb), static_cast<unsigned>(source.kind), source.arg,
                             position(source.count), position(source.times), position(source.holder), source.pointer,
                             source.out});
    }
    made.push_back(std::move(entry));
  }
  return made;
}

std::vector<kind> make_kinds() {
  std::vector<kind> made;
  for (std::uint32_t index = 0; index < table::kind_count; ++index) {
    kind entry{table::kind_names[index], table::kinds[index].owned, {}};
    for (std::uint32_t owner = 0; owner < table::kind_count; ++owner) {
      if ((table::kinds[index].dies_with >> owner & 1u) != 0) entry.dies_with.push_back(owner);
    }
    made.push_back(std::move(entry));
  }
  return made;
}

std::vector<result> make_results() {
  std::vector<result> made;
  for (const table::result_info& info : table::results) {
    made.push_back({info.name, info.value, info.description, info.sticky != table::stickiness::no});
  }
  return made;
}

}  // namespace

bool symbol::in(std::string_view class_name) const {
  const std::uint32_t index = table::class_index(class_name);
  return index < table::class_count && (classes >> index & 1u) != 0;
}

bool symbol::has_role(verb what) const {
  return std::any_of(roles.begin(), roles.end(), [what](const role& candidate) { return candidate.what == what; });
}

std::span<const symbol> symbols() {
  static const std::vector<symbol> all = make_symbols();
  return all;
}

std::span<const kind> kinds() {
  static const std::vector<kind> all = make_kinds();
  return all;
}

std::span<const std::string_view> classes() {
  static const std::vector<std::string_view> all(std::begin(table::class_names), std::end(table::class_names));
  return all;
}

std::span<const result> results() {
  static const std::vector<result> all = make_results();
  return all;
}

const symbol* find_symbol(std::string_view name) {
  const std::uint32_t index = table::symbol_index(name);
  return index < table::symbol_count ? &symbols()[index] : nullptr;
}

const kind* find_kind(std::string_view name) {
  const std::uint32_t index = table::kind_index(name);
  return index < table::kind_count ? &kinds()[index] : nullptr;
}

const result* find_result(std::string_view name) {
  const table::result_info* found = table::find_result(name);
  return found == nullptr ? nullptr : &results()[static_cast<std::size_t>(found - table::results)];
}

const result* find_result(int value) {
  const table::result_info* found = table::find_result(value);
  return found == nullptr ? nullptr : &results()[static_cast<std::size_t>(found - table::results)];
}

bool is_function(std::string_view name) { return table::find_function(name) != nullptr; }

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const table::function_info& function : table::functions) names.emplace_back(function.name);
  return names;
}

std::string result_text(int value) {
  const result* found = find_result(value);
  return found == nullptr ? "CUresult " + std::to_string(value) : std::string(found->name);
}

bool is_documented(const symbol& entry, int value) {
  const table::function_info* function = table::find_function(entry.function);
  if (function == nullptr) return false;
  const auto documented = table::results_of(*function);
  return std::any_of(documented.begin(), documented.end(),
                     [value](std::uint16_t index) { return table::results[index].value == value; });
}

bool answers_sticky_fault(const symbol& entry) {
  const table::function_info* function = table::find_function(entry.function);
  return function != nullptr && function->after_sticky_fault == table::sticky_answer::fault;
}

bool survives_sticky_fault(const symbol& entry) {
  const table::function_info* function = table::find_function(entry.function);
  return function != nullptr && function->after_sticky_fault == table::sticky_answer::success;
}

}  // namespace cufault::judge::api

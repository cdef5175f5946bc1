// SPDX-License-Identifier: Apache-2.0
// The driver API as the judge sees it: names, classes, roles and documented results, over the generated api_table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cufault::judge::api {

// What a function does to the object in one of its parameters.
enum class verb : std::uint8_t { makes, finds, uses, destroys, retains, releases };

// How a function changes the calling thread's current context.
enum class switches : std::uint8_t { none, set, push, pop, create, destroy };

// Whether a function depends on the current context.
enum class context_need : std::uint8_t { ignores, needs, switches };

struct role {
  verb what;
  unsigned kind;         // index into kinds()
  unsigned arg;          // position of the parameter
  int count = -1;        // position of the parameter that says how many handles `arg` points to; -1: one
  int times = -1;        // position of the parameter that says how many references; -1: one
  int holder = -1;       // position of the object that holds the references; -1: the caller
  bool pointer = false;  // the parameter points to the handle instead of being it
  bool out = false;      // and the call writes it there
};

// One exported entry point: one ABI variant of a function.
struct symbol {
  std::string_view name;
  std::string_view function;  // the plain name
  std::vector<std::string_view> params;
  std::uint32_t classes = 0;  // bit i: classes()[i]
  context_need context = context_need::ignores;
  switches switching = switches::none;
  std::vector<role> roles;

  [[nodiscard]] bool in(std::string_view class_name) const;
  [[nodiscard]] bool has_role(verb what) const;
};

struct kind {
  std::string_view name;
  bool owned;  // whoever made it must destroy it; a node or a kernel goes with its owner
  std::vector<unsigned> dies_with;
};

struct result {
  std::string_view name;
  int value;
  std::string_view description;
  bool sticky;  // recorded or documented to make every later call of the process fail
};

// Sorted by name.
[[nodiscard]] std::span<const symbol> symbols();
[[nodiscard]] std::span<const kind> kinds();
[[nodiscard]] std::span<const std::string_view> classes();
[[nodiscard]] std::span<const result> results();

// nullptr where there is none of that name.
[[nodiscard]] const symbol* find_symbol(std::string_view name);
[[nodiscard]] const kind* find_kind(std::string_view name);
[[nodiscard]] const result* find_result(std::string_view name);
[[nodiscard]] const result* find_result(int value);

// Whether there is a function of that plain name.
[[nodiscard]] bool is_function(std::string_view name);
[[nodiscard]] std::vector<std::string_view> function_names();

// "CUDA_ERROR_INVALID_CONTEXT", or "CUresult 12345" for a number without a name.
[[nodiscard]] std::string result_text(int value);

// Whether the header's text lists that result for the function.
[[nodiscard]] bool is_documented(const symbol& entry, int value);

// Whether hardware was recorded to answer a sticky fault's own code from this function.
[[nodiscard]] bool answers_sticky_fault(const symbol& entry);
// Whether hardware was recorded to go on as before there.
[[nodiscard]] bool survives_sticky_fault(const symbol& entry);

}  // namespace cufault::judge::api

/* SPDX-License-Identifier: Apache-2.0 */
/* The two functions behind each slot that are the shim's own: one template each over the entry point's signature. */
#ifndef CUFAULT_INTERPOSE_WRAPPERS_H
#define CUFAULT_INTERPOSE_WRAPPERS_H

#include <cstring>
#include <type_traits>

#include "call.h"
#include "driver_types.h"
#include "slots.h"

namespace cufault::interpose {

/* An argument as the trace keeps it: integers zero-extended, floats by bits, a structure as its first eight bytes. */
template <class T>
std::uint64_t word_of(const T &argument) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &argument, sizeof argument < sizeof word ? sizeof argument : sizeof word);
  return word;
}

template <std::uint32_t Symbol, class Function>
struct bootstrap;

template <std::uint32_t Symbol, class Result, class... Arguments>
struct bootstrap<Symbol, Result(Arguments...)> {
  static Result call(Arguments... arguments) noexcept {
    return reinterpret_cast<Result (*)(Arguments...)>(start_and_find(Symbol))(arguments...);
  }
};

template <std::uint32_t Symbol, class Function>
struct armed;

template <std::uint32_t Symbol, class Result, class... Arguments>
struct armed<Symbol, Result(Arguments...)> {
  static Result call(Arguments... arguments) noexcept {
    constexpr bool declared = !std::is_same_v<Result(Arguments...), undeclared>;
    const std::uint64_t words[] = {word_of(arguments)..., 0};
    interpose::call call{Symbol, declared ? sizeof...(Arguments) : 0, words, __builtin_frame_address(0)};
    Result real{};
    if (begin_call(call)) real = reinterpret_cast<Result (*)(Arguments...)>(backend_functions[Symbol])(arguments...);
    return static_cast<Result>(finish_call(call, static_cast<std::int32_t>(real)));
  }
};

}  // namespace cufault::interpose

#endif

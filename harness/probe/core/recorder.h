// SPDX-License-Identifier: Apache-2.0
// Writes down what each driver call of a case answered. One process runs one case, so there is one recorder per process.
#pragma once

#include <cuda.h>

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

// A call is recorded by its own text: what stands in the source is the name of the row, and a row recorded on another
// driver is found by it. Only a macro has that text. It also makes the call from inside `probe::step`, which leaves out
// rows that are known to end the process.
#define CALL(...) probe::step(#__VA_ARGS__, [&] { return (__VA_ARGS__); })

// The same under a label, for a call whose text says too little, and for what calls left behind: a number or text.
#define STEP(label, ...) probe::step(label, [&] { return (__VA_ARGS__); })

// A call that prepares something: a row only if it fails.
#define SETUP(...) probe::prepared(#__VA_ARGS__, (__VA_ARGS__))

namespace probe {

// Where a case stands, in memory that the runner sees too: when the process dies, it tells in which row.
struct Progress {
  static constexpr std::size_t room = 128;

  struct Death {
    int row;
    int signal;
  };

  int row = 0;          // rows begun
  bool inside = false;  // in a row's call, not between rows
  std::size_t death_count = 0;
  std::array<Death, room> deaths{};  // rows to leave out, because they ended an earlier process of this case
};

// Rows go to the descriptor as "call<TAB>answer" lines, each in one write, so that threads and forked children may share it.
void start_recording(Progress& progress, int descriptor);

// The result's name as the driver gives it; its number where the driver gives none.
[[nodiscard]] std::string name_of(CUresult result);

// What is written for an answer: a result's name, or "missing" where the call went to a function that the driver lacks; a
// number; text as it is.
[[nodiscard]] std::string answer_of(CUresult result);
[[nodiscard]] inline std::string answer_of(std::string text) { return text; }
template <class Number>
  requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
[[nodiscard]] std::string answer_of(Number number) {
  return std::to_string(static_cast<long long>(number));
}

// True if the row is to be made. Follow with `write`.
[[nodiscard]] bool begin(std::string_view label);
void write(std::string_view label, std::string_view answer);

// A row: what `find` answers.
template <class Find>
void step(std::string_view label, Find&& find) {
  if (begin(label)) write(label, answer_of(find()));
}

void prepared(std::string_view call, CUresult result);

}  // namespace probe

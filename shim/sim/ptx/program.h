// SPDX-License-Identifier: Apache-2.0
// PTX text as a program: what the parser makes and the interpreter runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cufault::sim::ptx {

enum class Space : std::uint8_t { none, reg, param, global, shared, local, constant };

// A scalar type: its letter (b, u, s, f, p for predicates) and bits.
struct Type {
  char letter = 'b';
  unsigned bits = 32;
  [[nodiscard]] std::size_t bytes() const noexcept { return bits / 8; }
};

struct Variable {
  std::string name;
  Space space = Space::none;
  Type type;
  std::size_t size = 0;  // bytes
  std::size_t align = 1;
  std::size_t offset = 0;  // in its space: parameters, shared memory
  bool external = false;
  bool managed = false;
  std::vector<unsigned char> initial;
};

struct Operand {
  enum class Kind : std::uint8_t { none, reg, integer, real, symbol, special, address } kind = Kind::none;
  int reg = -1;             // index of a register; of the base of an address
  std::uint64_t value = 0;  // an integer, the bits of a real as a double, an address's offset
  std::string symbol;       // a variable, label, function or special register
  bool negated = false;     // !%p
};

struct Instruction {
  std::vector<std::string> opcode;  // split at the dots
  std::vector<Operand> operands;
  int predicate = -1;
  bool predicate_negated = false;
  std::size_t target = 0;  // of a branch
  unsigned line = 0;
};

struct Function {
  std::string name;
  bool entry = false;
  bool has_body = false;
  std::vector<Variable> parameters;
  std::size_t parameter_bytes = 0;
  std::vector<Variable> shared;
  std::size_t shared_bytes = 0;
  std::size_t local_bytes = 0;
  std::vector<Variable> local;
  std::vector<std::string> registers;
  std::vector<Instruction> body;
  int max_threads[3] = {0, 0, 0};
  bool explicit_cluster = false;
  int cluster[3] = {0, 0, 0};
  std::vector<std::string> calls;
};

struct Program {
  int version_major = 0, version_minor = 0;
  int target = 0;
  int address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

struct Problem {
  enum class Kind : std::uint8_t { not_ptx, invalid, version } kind;
  std::string text;
};

// Throws Problem. Without `resolve`, functions may be called that another program defines.
[[nodiscard]] Program parse(std::string_view text, bool resolve = true);
// Throws Problem if a function is called that nobody defines.
void resolve_calls(const Program& program);

}  // namespace cufault::sim::ptx

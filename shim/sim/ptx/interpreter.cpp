// SPDX-License-Identifier: Apache-2.0
// The interpreter: scalar integer and float arithmetic, loads and stores, branches, barriers, atomics, trap. More than
// 500 lines would be a sign to split it by groups of instructions.
#include "ptx/interpreter.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>

namespace cufault::sim::ptx {

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideUnsigned;

// Generic addresses of shared and local memory: windows that no host address falls into.
constexpr std::uint64_t kSharedWindow = 0xF100000000000000ull;
constexpr std::uint64_t kLocalWindow = 0xF200000000000000ull;
constexpr std::uint64_t kParamWindow = 0xF300000000000000ull;
constexpr std::uint64_t kWindowMask = 0xFF00000000000000ull;
// A kernel that runs longer than this does not end here.
constexpr std::uint64_t kMaxSteps = 200'000'000;

struct Stop {
  Outcome outcome;
  std::string text;
};

[[noreturn]] void unsupported(const Instruction& instruction) {
  std::string name;
  for (const std::string& part : instruction.opcode) name += (name.empty() ? "" : ".") + part;
  throw Stop{Outcome::unsupported, name};
}

std::uint64_t mask(unsigned bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

std::int64_t as_signed(std::uint64_t value, unsigned bits) {
  if (bits >= 64) return static_cast<std::int64_t>(value);
  const std::uint64_t sign = 1ull << (bits - 1);
  value &= mask(bits);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

float as_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

bool type_from(const std::string& word, Type& type) {
  if (word == "pred") {
    type = {'p', 8};
    return true;
  }
  if (word.size() < 2 || std::strchr("busf", word[0]) == nullptr || std::isdigit(static_cast<unsigned char>(word[1])) == 0) return false;
  const int bits = std::atoi(word.c_str() + 1);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return false;
  type = {word[0], static_cast<unsigned>(bits)};
  return true;
}

struct Thread {
  std::vector<std::uint64_t> registers;
  std::vector<unsigned char> local;
  unsigned id[3];
  std::size_t pc = 0;
  bool done = false;
  bool at_barrier = false;
};

class Block {
 public:
  Block(const Launch& launch, const unsigned (&index)[3], std::uint64_t& steps)
      : launch_(launch), function_(*launch.function), steps_(steps) {
    std::copy(std::begin(index), std::end(index), index_);
    shared_.resize(function_.shared_bytes + launch.dynamic_shared);
    for (unsigned z = 0; z < launch.block[2]; ++z)
      for (unsigned y = 0; y < launch.block[1]; ++y)
        for (unsigned x = 0; x < launch.block[0]; ++x) {
          Thread thread;
          thread.registers.resize(function_.registers.size());
          thread.local.resize(function_.local_bytes);
          thread.id[0] = x;
          thread.id[1] = y;
          thread.id[2] = z;
          threads_.push_back(std::move(thread));
        }
  }

  void run() {
    bool left = true;
    while (left) {
      left = false;
      for (Thread& thread : threads_) {
        thread.at_barrier = false;
        while (!thread.done && !thread.at_barrier) step(thread);
        left = left || !thread.done;
      }
    }
  }

 private:
  void step(Thread& thread) {
    if (++steps_ > kMaxSteps) throw Stop{Outcome::unsupported, "a kernel of this length"};
    if (thread.pc >= function_.body.size()) {
      thread.done = true;
      return;
    }
    const Instruction& next = function_.body[thread.pc++];
    if (next.predicate >= 0) {
      const bool holds = (thread.registers[static_cast<std::size_t>(next.predicate)] & 1) != 0;
      if (holds == next.predicate_negated) return;
    }
    execute(thread, next);
  }

  [[nodiscard]] std::uint64_t special(const Thread& thread, const std::string& name) const {
    const auto axis = [&](const unsigned (&values)[3]) {
      const char last = name.back();
      return static_cast<std::uint64_t>(last == 'y' ? values[1] : last == 'z' ? values[2] : values[0]);
    };
    if (name.rfind("%tid", 0) == 0) return axis(thread.id);
    if (name.rfind("%ntid", 0) == 0) return axis(launch_.block);
    if (name.rfind("%ctaid", 0) == 0) return axis(index_);
    if (name.rfind("%nctaid", 0) == 0) return axis(launch_.grid);
    const std::uint64_t linear = thread.id[0] + launch_.block[0] * (thread.id[1] + std::uint64_t{launch_.block[1]} * thread.id[2]);
    if (name == "%laneid") return linear % 32;
    if (name == "%warpid") return linear / 32;
    if (name.rfind("%clock", 0) == 0 || name.rfind("%globaltimer", 0) == 0) return now_ns();
    if (name == "%dynamic_smem_size") return launch_.dynamic_shared;
    if (name == "%total_smem_size") return shared_.size();
    return 0;
  }

  [[nodiscard]] std::uint64_t symbol_address(const std::string& name, Space* space = nullptr) const {
    const auto in = [&](const std::vector<Variable>& list) -> const Variable* {
      const auto at = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return v.name == name; });
      return at == list.end() ? nullptr : &*at;
    };
    if (const Variable* parameter = in(function_.parameters)) {
      if (space != nullptr) *space = Space::param;
      return kParamWindow + parameter->offset;
    }
    if (const Variable* shared = in(function_.shared)) {
      if (space != nullptr) *space = Space::shared;
      return kSharedWindow + shared->offset;
    }
    if (const Variable* local = in(function_.local)) {
      if (space != nullptr) *space = Space::local;
      return kLocalWindow + local->offset;
    }
    if (const Variable* variable = in(launch_.program->variables); variable != nullptr && variable->space == Space::shared)
      return kSharedWindow + function_.shared_bytes;  // dynamic shared memory
    return launch_.address_of(name);
  }

  [[nodiscard]] std::uint64_t value(const Thread& thread, const Operand& operand, const Type& type) const {
    switch (operand.kind) {
      case Operand::Kind::reg: {
        const std::uint64_t held = thread.registers[static_cast<std::size_t>(operand.reg)];
        return operand.negated ? held ^ 1 : held;
      }
      case Operand::Kind::integer: return operand.value & mask(type.letter == 'p' ? 1 : type.bits);
      case Operand::Kind::real: {
        const double real = as_double(operand.value);
        return type.bits == 32 ? bits_of(static_cast<float>(real)) : operand.value;
      }
      case Operand::Kind::special: return special(thread, operand.symbol) & mask(type.bits);
      case Operand::Kind::symbol: return symbol_address(operand.symbol);
      default: return 0;
    }
  }

  void put(Thread& thread, const Operand& operand, std::uint64_t value, unsigned bits) {
    if (operand.reg >= 0) thread.registers[static_cast<std::size_t>(operand.reg)] = value & mask(bits);
  }

  // The bytes behind an address; stops the kernel if there are none.
  unsigned char* bytes(Thread& thread, std::uint64_t address, std::size_t size, bool write) {
    if (address % size != 0) throw Stop{Outcome::misaligned_address, {}};
    const std::uint64_t offset = address & ~kWindowMask;
    const auto inside = [&](std::vector<unsigned char>& memory) {
      if (offset + size > memory.size()) throw Stop{Outcome::illegal_address, {}};
      return memory.data() + offset;
    };
    switch (address & kWindowMask) {
      case kSharedWindow: return inside(shared_);
      case kLocalWindow: return inside(thread.local);
      case kParamWindow: {
        const auto& arguments = *launch_.arguments;
        if (offset + size > arguments.size()) throw Stop{Outcome::illegal_address, {}};
        return const_cast<unsigned char*>(arguments.data()) + offset;
      }
      default: break;
    }
    unsigned char* found = launch_.memory(address, size, write);
    if (found == nullptr) throw Stop{Outcome::illegal_address, {}};
    return found;
  }

  [[nodiscard]] std::uint64_t address(const Thread& thread, const Operand& operand, Space space) const {
    std::uint64_t base = 0;
    if (operand.reg >= 0)
      base = thread.registers[static_cast<std::size_t>(operand.reg)];
    else if (!operand.symbol.empty())
      base = symbol_address(operand.symbol);
    base += operand.value;
    // Addresses in a window of their own, as cvta.to and mov give them.
    if (space == Space::shared && (base & kWindowMask) == 0) base |= kSharedWindow;
    if (space == Space::local && (base & kWindowMask) == 0) base |= kLocalWindow;
    return base;
  }

  void execute(Thread& thread, const Instruction& next);
  void move_memory(Thread& thread, const Instruction& next, const Type& type, bool load);
  void atomic(Thread& thread, const Instruction& next, const Type& type);
  void convert(Thread& thread, const Instruction& next);
  void compare(Thread& thread, const Instruction& next, const Type& type);
  bool integer(Thread& thread, const Instruction& next, const Type& type);
  bool real(Thread& thread, const Instruction& next, const Type& type);

  const Launch& launch_;
  const Function& function_;
  std::uint64_t& steps_;
  unsigned index_[3];
  std::vector<unsigned char> shared_;
  std::vector<Thread> threads_;
};

Space space_of(const Instruction& next) {
  for (const std::string& part : next.opcode) {
    if (part == "global") return Space::global;
    if (part == "shared" || part.rfind("shared::", 0) == 0) return Space::shared;
    if (part == "local") return Space::local;
    if (part == "param" || part.rfind("param::", 0) == 0) return Space::param;
    if (part == "const") return Space::constant;
  }
  return Space::none;
}

bool has(const Instruction& next, std::string_view part) {
  return std::find(next.opcode.begin() + 1, next.opcode.end(), part) != next.opcode.end();
}

void Block::move_memory(Thread& thread, const Instruction& next, const Type& type, bool load) {
  const std::size_t lanes = has(next, "v4") ? 4 : has(next, "v2") ? 2 : 1;
  if (next.operands.size() != lanes + 1) unsupported(next);
  const Operand& place = load ? next.operands.back() : next.operands.front();
  const Space space = space_of(next);
  std::uint64_t at = address(thread, place, space);
  if (lanes > 1 && at % (lanes * type.bytes()) != 0) throw Stop{Outcome::misaligned_address, {}};
  for (std::size_t lane = 0; lane < lanes; ++lane, at += type.bytes()) {
    unsigned char* memory = bytes(thread, at, type.bytes(), !load);
    if (load) {
      std::uint64_t got = 0;
      std::memcpy(&got, memory, type.bytes());
      if (type.letter == 's') got = static_cast<std::uint64_t>(as_signed(got, type.bits));
      put(thread, next.operands[lane], got, 64);
    } else {
      const std::uint64_t given = value(thread, next.operands[lane + 1], type);
      std::memcpy(memory, &given, type.bytes());
    }
  }
}

void Block::atomic(Thread& thread, const Instruction& next, const Type& type) {
  const bool reduces = next.opcode[0] == "red";
  const std::size_t first = reduces ? 0 : 1;
  if (next.operands.size() < first + 2) unsupported(next);
  unsigned char* memory = bytes(thread, address(thread, next.operands[first], space_of(next)), type.bytes(), true);
  std::uint64_t before = 0;
  std::memcpy(&before, memory, type.bytes());
  const std::uint64_t b = value(thread, next.operands[first + 1], type);
  std::uint64_t after = before;
  const auto less = [&](std::uint64_t x, std::uint64_t y) {
    return type.letter == 's' ? as_signed(x, type.bits) < as_signed(y, type.bits) : x < y;
  };
  if (has(next, "add"))
    after = type.letter == 'f' ? (type.bits == 32 ? bits_of(as_float(before) + as_float(b)) : bits_of(as_double(before) + as_double(b)))
                               : before + b;
  else if (has(next, "min"))
    after = less(b, before) ? b : before;
  else if (has(next, "max"))
    after = less(before, b) ? b : before;
  else if (has(next, "and"))
    after = before & b;
  else if (has(next, "or"))
    after = before | b;
  else if (has(next, "xor"))
    after = before ^ b;
  else if (has(next, "exch"))
    after = b;
  else if (has(next, "inc"))
    after = before >= b ? 0 : before + 1;
  else if (has(next, "dec"))
    after = before == 0 || before > b ? b : before - 1;
  else if (has(next, "cas") && next.operands.size() == first + 3)
    after = before == (b & mask(type.bits)) ? value(thread, next.operands[first + 2], type) : before;
  else
    unsupported(next);
  std::memcpy(memory, &after, type.bytes());
  if (!reduces) put(thread, next.operands[0], before, type.bits);
}

void Block::convert(Thread& thread, const Instruction& next) {
  Type types[2];
  int found = 0;
  for (const std::string& part : next.opcode)
    if (found < 2 && type_from(part, types[found])) ++found;
  if (found != 2 || next.operands.size() != 2) unsupported(next);
  const Type &to = types[0], &from = types[1];
  const std::uint64_t given = value(thread, next.operands[1], from) & mask(from.bits);
  std::uint64_t result = 0;
  if (from.letter == 'f') {
    double real = from.bits == 32 ? static_cast<double>(as_float(given)) : from.bits == 64 ? as_double(given) : 0;
    if (from.bits == 16) unsupported(next);
    if (has(next, "rni")) real = std::nearbyint(real);
    if (has(next, "rmi")) real = std::floor(real);
    if (has(next, "rpi")) real = std::ceil(real);
    if (has(next, "rzi")) real = std::trunc(real);
    if (to.letter == 'f') {
      if (to.bits == 16) unsupported(next);
      result = to.bits == 32 ? bits_of(static_cast<float>(real)) : bits_of(real);
    } else {
      const double high = std::ldexp(1.0, static_cast<int>(to.bits) - (to.letter == 's' ? 1 : 0));
      const double low = to.letter == 's' ? -high : 0.0;
      if (std::isnan(real))
        result = 0;
      else if (real >= high)
        result = to.letter == 's' ? mask(to.bits - 1) : mask(to.bits);
      else if (real <= low)
        result = to.letter == 's' ? 1ull << (to.bits - 1) : 0;
      else
        result = to.letter == 's' ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real)) : static_cast<std::uint64_t>(real);
    }
  } else if (to.letter == 'f') {
    if (to.bits == 16) unsupported(next);
    const double real = from.letter == 's' ? static_cast<double>(as_signed(given, from.bits)) : static_cast<double>(given);
    const float single = from.letter == 's' ? static_cast<float>(as_signed(given, from.bits)) : static_cast<float>(given);
    result = to.bits == 32 ? bits_of(single) : bits_of(real);
  } else {
    result = from.letter == 's' ? static_cast<std::uint64_t>(as_signed(given, from.bits)) : given;
  }
  put(thread, next.operands[0], to.letter == 's' ? static_cast<std::uint64_t>(as_signed(result, to.bits)) : result, to.bits);
}

void Block::compare(Thread& thread, const Instruction& next, const Type& type) {
  const bool pair = next.operands.size() >= 4 && next.opcode[0] == "setp";
  const std::size_t first = 1;
  if (next.operands.size() < 3 || pair) unsupported(next);
  const std::uint64_t a = value(thread, next.operands[first], type), b = value(thread, next.operands[first + 1], type);
  const std::string& how = next.opcode[1];
  bool result = false;
  const auto decide = [&](auto x, auto y) {
    if (how == "eq" || how == "equ") return x == y;
    if (how == "ne" || how == "neu") return x != y;
    if (how == "lt" || how == "lo" || how == "ltu") return x < y;
    if (how == "le" || how == "ls" || how == "leu") return x <= y;
    if (how == "gt" || how == "hi" || how == "gtu") return x > y;
    if (how == "ge" || how == "hs" || how == "geu") return x >= y;
    unsupported(next);
  };
  if (type.letter == 'f')
    result = type.bits == 32 ? decide(as_float(a), as_float(b)) : decide(as_double(a), as_double(b));
  else if (type.letter == 's')
    result = decide(as_signed(a, type.bits), as_signed(b, type.bits));
  else
    result = decide(a & mask(type.bits), b & mask(type.bits));
  put(thread, next.operands[0], result ? 1 : 0, 1);
}

bool Block::integer(Thread& thread, const Instruction& next, const Type& type) {
  const std::string& code = next.opcode[0];
  const auto in = [&](std::size_t i) { return value(thread, next.operands[i], type) & mask(type.bits); };
  const auto sin = [&](std::size_t i) { return as_signed(in(i), type.bits); };
  const bool is_signed = type.letter == 's';
  const auto out = [&](std::uint64_t result, unsigned bits) { put(thread, next.operands[0], result, bits); };
  const std::size_t n = next.operands.size();
  const auto product = [&](std::size_t i, std::size_t j) -> std::uint64_t {
    if (has(next, "wide")) return is_signed ? static_cast<std::uint64_t>(sin(i) * sin(j)) : in(i) * in(j);
    if (has(next, "hi")) {
      if (is_signed) return static_cast<std::uint64_t>((static_cast<Wide>(sin(i)) * sin(j)) >> type.bits);
      return static_cast<std::uint64_t>((static_cast<WideUnsigned>(in(i)) * in(j)) >> type.bits);
    }
    return in(i) * in(j);
  };
  const unsigned wide = has(next, "wide") ? type.bits * 2 : type.bits;
  if (n == 3) {
    if (code == "add") return out(in(1) + in(2), type.bits), true;
    if (code == "sub") return out(in(1) - in(2), type.bits), true;
    if (code == "mul") return out(product(1, 2), wide), true;
    if (code == "and") return out(in(1) & in(2), type.bits), true;
    if (code == "or") return out(in(1) | in(2), type.bits), true;
    if (code == "xor") return out(in(1) ^ in(2), type.bits), true;
    if (code == "min") return out(is_signed ? static_cast<std::uint64_t>(std::min(sin(1), sin(2))) : std::min(in(1), in(2)), type.bits), true;
    if (code == "max") return out(is_signed ? static_cast<std::uint64_t>(std::max(sin(1), sin(2))) : std::max(in(1), in(2)), type.bits), true;
    if (code == "div" || code == "rem") {
      if (in(2) == 0) return out(mask(type.bits), type.bits), true;
      const bool overflows = is_signed && sin(2) == -1;
      if (code == "div")
        return out(overflows ? 0 - in(1) : is_signed ? static_cast<std::uint64_t>(sin(1) / sin(2)) : in(1) / in(2), type.bits), true;
      return out(overflows ? 0 : is_signed ? static_cast<std::uint64_t>(sin(1) % sin(2)) : in(1) % in(2), type.bits), true;
    }
    if (code == "shl" || code == "shr") {
      const std::uint64_t by = value(thread, next.operands[2], {'u', 32});
      if (code == "shl") return out(by >= type.bits ? 0 : in(1) << by, type.bits), true;
      if (is_signed) return out(static_cast<std::uint64_t>(sin(1) >> std::min<std::uint64_t>(by, type.bits - 1)), type.bits), true;
      return out(by >= type.bits ? 0 : in(1) >> by, type.bits), true;
    }
  }
  if (n == 2) {
    if (code == "neg") return out(0 - in(1), type.bits), true;
    if (code == "not") return out(type.letter == 'p' ? in(1) ^ 1 : ~in(1), type.bits), true;
    if (code == "abs") return out(static_cast<std::uint64_t>(sin(1) < 0 ? -sin(1) : sin(1)), type.bits), true;
    if (code == "popc") return out(static_cast<std::uint64_t>(std::popcount(in(1))), 32), true;
    if (code == "clz") return out(static_cast<std::uint64_t>(std::countl_zero(in(1))) - (64 - type.bits), 32), true;
  }
  if (n == 4 && code == "mad") {
    const Type sum{type.letter, wide};
    return out(product(1, 2) + value(thread, next.operands[3], sum), wide), true;
  }
  return false;
}

bool Block::real(Thread& thread, const Instruction& next, const Type& type) {
  if (type.bits != 32 && type.bits != 64) return false;
  const std::string& code = next.opcode[0];
  const auto work = [&](auto zero) {
    using Real = decltype(zero);
    const auto in = [&](std::size_t i) -> Real {
      const std::uint64_t held = value(thread, next.operands[i], type);
      if constexpr (sizeof(Real) == 4)
        return as_float(held);
      else
        return as_double(held);
    };
    const std::size_t n = next.operands.size();
    Real result{};
    if (n == 3 && code == "add") result = in(1) + in(2);
    else if (n == 3 && code == "sub") result = in(1) - in(2);
    else if (n == 3 && code == "mul") result = in(1) * in(2);
    else if (n == 3 && code == "div") result = in(1) / in(2);
    else if (n == 3 && code == "min") result = std::fmin(in(1), in(2));
    else if (n == 3 && code == "max") result = std::fmax(in(1), in(2));
    else if (n == 4 && (code == "fma" || code == "mad")) result = std::fma(in(1), in(2), in(3));
    else if (n == 2 && code == "neg") result = -in(1);
    else if (n == 2 && code == "abs") result = std::fabs(in(1));
    else if (n == 2 && code == "sqrt") result = std::sqrt(in(1));
    else if (n == 2 && code == "rsqrt") result = Real{1} / std::sqrt(in(1));
    else if (n == 2 && code == "rcp") result = Real{1} / in(1);
    else if (n == 2 && code == "sin") result = std::sin(in(1));
    else if (n == 2 && code == "cos") result = std::cos(in(1));
    else if (n == 2 && code == "ex2") result = std::exp2(in(1));
    else if (n == 2 && code == "lg2") result = std::log2(in(1));
    else return false;
    put(thread, next.operands[0], bits_of(result), type.bits);
    return true;
  };
  return type.bits == 32 ? work(0.0f) : work(0.0);
}

void Block::execute(Thread& thread, const Instruction& next) {
  const std::string& code = next.opcode[0];
  Type type;
  for (auto part = next.opcode.rbegin(); part != next.opcode.rend(); ++part)
    if (type_from(*part, type)) break;
  if (code == "ret" || code == "exit") {
    thread.done = true;
  } else if (code == "bra") {
    thread.pc = next.target;
  } else if (code == "trap") {
    throw Stop{Outcome::trap, {}};
  } else if (code == "bar" || code == "barrier") {
    thread.at_barrier = true;
  } else if (code == "membar" || code == "fence" || code == "nanosleep" || code == "prefetch" || code == "pmevent") {
  } else if (code == "ld" || code == "ldu") {
    move_memory(thread, next, type, true);
  } else if (code == "st") {
    move_memory(thread, next, type, false);
  } else if (code == "atom" || code == "red") {
    atomic(thread, next, type);
  } else if (code == "mov" || code == "cvta") {
    if (next.operands.size() != 2) unsupported(next);
    put(thread, next.operands[0], value(thread, next.operands[1], type), type.letter == 'p' ? 1 : type.bits);
  } else if (code == "cvt") {
    convert(thread, next);
  } else if (code == "setp") {
    compare(thread, next, type);
  } else if (code == "selp") {
    if (next.operands.size() != 4) unsupported(next);
    const bool first = (value(thread, next.operands[3], {'p', 8}) & 1) != 0;
    put(thread, next.operands[0], value(thread, next.operands[first ? 1 : 2], type), type.bits);
  } else if (type.letter == 'f' ? !real(thread, next, type) : !integer(thread, next, type)) {
    unsupported(next);
  }
}

}  // namespace

Result run(const Launch& launch) {
  std::uint64_t steps = 0;
  try {
    for (unsigned z = 0; z < launch.grid[2]; ++z)
      for (unsigned y = 0; y < launch.grid[1]; ++y)
        for (unsigned x = 0; x < launch.grid[0]; ++x) {
          const unsigned index[3] = {x, y, z};
          Block(launch, index, steps).run();
        }
  } catch (const Stop& stop) {
    return {stop.outcome, stop.text};
  }
  return {};
}

}  // namespace cufault::sim::ptx

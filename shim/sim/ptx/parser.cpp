// SPDX-License-Identifier: Apache-2.0
// Reads PTX text. Strict enough to refuse what the recorded driver refused (library_load_bad_images); instructions that
// nobody here interprets are read all the same.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>

#include "ptx/program.h"

namespace cufault::sim::ptx {

namespace {

[[noreturn]] void invalid(unsigned line, const std::string& text) {
  throw Problem{Problem::Kind::invalid, "ptxas application ptx input, line " + std::to_string(line) + "; error   : " + text};
}

struct Token {
  std::string text;
  unsigned line = 0;
};

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  unsigned line = 1;
  std::size_t i = 0;
  while (i < text.size() && text[i] != '\0') {
    const char c = text[i];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      line += static_cast<unsigned>(std::count(text.begin() + static_cast<long>(i), text.begin() + static_cast<long>(std::min(end, text.size())), '\n'));
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else if (c == '"') {
      const std::size_t end = text.find('"', i + 1);
      if (end == std::string_view::npos) invalid(line, "unterminated string");
      tokens.push_back({std::string(text.substr(i, end + 1 - i)), line});
      i = end + 1;
    } else if (word_character(c) || (c == '.' && i + 1 < text.size() && word_character(text[i + 1]))) {
      // A word with its dotted parts: st.global.u32, .visible, %tid.x, 0f3F800000, 1.5
      std::size_t end = i + 1;
      while (end < text.size() && (word_character(text[end]) || (text[end] == '.' && end + 1 < text.size() && word_character(text[end + 1])) ||
                                   (text[end] == ':' && text.substr(end, 2) == "::")))
        end += text.substr(end, 2) == "::" ? 2 : 1;
      tokens.push_back({std::string(text.substr(i, end - i)), line});
      i = end;
    } else {
      tokens.push_back({std::string(1, c), line});
      ++i;
    }
  }
  return tokens;
}

const std::set<std::string, std::less<>>& opcodes() {
  static const auto& all = *new std::set<std::string, std::less<>>{
      "abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom", "bar", "barrier", "bfe", "bfi", "bfind", "bmsk",
      "bra", "brev", "brkpt", "brx", "call", "clusterlaunchcontrol", "clz", "cnot", "copysign", "cos", "cp", "createpolicy", "cvt",
      "cvta", "discard", "div", "dp2a", "dp4a", "elect", "ex2", "exit", "fence", "fma", "fns", "getctarank", "griddepcontrol",
      "isspacep", "istypep", "ld", "ldmatrix", "ldu", "lg2", "lop3", "mad", "mad24", "madc", "mapa", "match", "max", "mbarrier", "membar",
      "min", "mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep", "neg", "not", "or", "pmevent", "popc", "prefetch",
      "prefetchu", "prmt", "rcp", "red", "redux", "rem", "ret", "rsqrt", "sad", "selp", "set", "setmaxnreg", "setp", "shf",
      "shfl", "shl", "shr", "sin", "slct", "sqrt", "st", "stackrestore", "stacksave", "stmatrix", "sub", "subc", "suld", "suq", "sured",
      "sust", "szext", "tanh", "tcgen05", "tensormap", "testp", "tex", "tld4", "trap", "txq", "vabsdiff", "vabsdiff2", "vabsdiff4",
      "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vote", "vset",
      "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma", "xor"};
  return all;
}

bool type_of(std::string_view word, Type& type) {
  if (word == "pred") {
    type = {'p', 8};
    return true;
  }
  if (word.size() < 2 || std::strchr("busf", word[0]) == nullptr) return false;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), bits);
  if (error != std::errc{} || (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)) return false;
  if (end != word.data() + word.size() && std::string_view(end) != "x2") return false;
  type = {word[0], bits};
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}

  Program run(bool resolve) {
    if (tokens_.empty() || tokens_[0].text != ".version") throw Problem{Problem::Kind::not_ptx, "no .version"};
    take();
    version();
    if (peek() != ".target") invalid(line(), "Missing .target directive");
    while (!done()) declaration();
    if (resolve) resolve_calls(program_);
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= tokens_.size(); }
  [[nodiscard]] std::string_view peek() const { return done() ? std::string_view() : std::string_view(tokens_[at_].text); }
  [[nodiscard]] unsigned line() const { return tokens_.empty() ? 1 : tokens_[std::min(at_, tokens_.size() - 1)].line; }
  std::string take() {
    if (done()) invalid(line(), "Parsing error near end of input");
    return tokens_[at_++].text;
  }
  void expect(std::string_view text) {
    if (peek() != text) invalid(line(), "Parsing error near '" + std::string(peek()) + "': syntax error");
    ++at_;
  }
  bool accept(std::string_view text) {
    if (peek() != text) return false;
    ++at_;
    return true;
  }

  void version() {
    const std::string text = take();
    char* end = nullptr;
    program_.version_major = static_cast<int>(std::strtol(text.c_str(), &end, 10));
    if (*end != '.') invalid(line(), "Parsing error near '" + text + "'");
    program_.version_minor = static_cast<int>(std::strtol(end + 1, &end, 10));
    if (program_.version_major > 9 || (program_.version_major == 9 && program_.version_minor > 0))
      throw Problem{Problem::Kind::version, "Unsupported .version " + text + "; current version is '9.0'"};
  }

  std::uint64_t number() {
    const std::string text = take();
    char* end = nullptr;
    const auto value = std::strtoull(text.c_str(), &end, 0);
    if (end == text.c_str() || (*end != '\0' && *end != 'U')) invalid(line(), "Parsing error near '" + text + "'");
    return value;
  }

  void declaration() {
    const std::string_view word = peek();
    if (word == ".target") {
      take();
      target();
    } else if (word == ".address_size") {
      take();
      program_.address_size = static_cast<int>(number());
      if (program_.address_size != 64) invalid(line(), "Address size of 32 is not supported");
    } else if (word == ".file" || word == ".section" || word == ".pragma" || word == ".alias") {
      skip_directive();
    } else {
      linked();
    }
  }

  void target() {
    const std::string text = take();
    int sm = 0;
    if (text.rfind("sm_", 0) != 0) invalid(line(), "Unknown .target '" + text + "'");
    sm = std::atoi(text.c_str() + 3);
    static constexpr int kKnown[] = {20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90};
    if (std::find(std::begin(kKnown), std::end(kKnown), sm) == std::end(kKnown))
      invalid(line(), "SM version specified by .target is higher than default SM version assumed");
    program_.target = sm;
    while (accept(",")) take();
  }

  void skip_directive() {
    const std::string what = take();
    if (what == ".section") {
      while (!done() && peek() != "{") take();
      unsigned depth = 0;
      do {
        const std::string text = take();
        depth += text == "{" ? 1u : 0u;
        depth -= text == "}" ? 1u : 0u;
      } while (depth != 0);
      return;
    }
    const unsigned here = tokens_[at_ - 1].line;
    if (what == ".pragma" || what == ".alias") {
      while (!done() && take() != ";") {
      }
      return;
    }
    while (!done() && tokens_[at_].line == here) take();
  }

  // [.extern | .visible | .weak | .common] then a variable, .func or .entry
  void linked() {
    bool external = false;
    while (true) {
      const std::string_view word = peek();
      if (word == ".extern") external = true;
      if (word != ".extern" && word != ".visible" && word != ".weak" && word != ".common") break;
      take();
    }
    const std::string word = take();
    if (word == ".entry" || word == ".func") {
      function(word == ".entry", external);
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      const Space space = word == ".global" ? Space::global : word == ".const" ? Space::constant : Space::shared;
      variables(space, external, program_.variables);
    } else {
      --at_;
      invalid(line(), "Parsing error near '" + word + "': syntax error");
    }
  }

  // The rest of a variable declaration after its space: [.align N] [.attribute(..)] [.vN] .type name[..] [= ..] {, ..} ;
  void variables(Space space, bool external, std::vector<Variable>& into) {
    do {
      into.push_back(variable(space, external));
    } while (accept(","));
    expect(";");
  }

  Variable variable(Space space, bool external) {
    Variable made;
    made.space = space;
    made.external = external;
    std::size_t align = 0, vector = 1;
    bool typed = false;
    while (!peek().empty() && peek().front() == '.') {
      const std::string word = take().substr(1);
      Type type;
      if (word == "align")
        align = number();
      else if (word == "attribute") {
        expect("(");
        while (peek() != ")") made.managed = take() == ".managed" || made.managed;
        expect(")");
      } else if (word == "v2" || word == "v4")
        vector = word == "v2" ? 2 : 4;
      else if (word == "ptr" || word == "global" || word == "shared" || word == "const" || word == "local" || word == "noalias")
        continue;
      else if (type_of(word, type)) {
        made.type = type;
        typed = true;
      } else if (word == "texref" || word == "samplerref" || word == "surfref") {
        made.type = {'b', 64};
        typed = true;
      } else
        invalid(line(), "Unknown type '." + word + "'");
    }
    if (!typed) invalid(line(), "Parsing error near '" + std::string(peek()) + "': syntax error");
    made.name = take();
    std::size_t count = 1;
    while (accept("[")) {
      count *= peek() == "]" ? 0 : number();
      expect("]");
    }
    made.size = made.type.bytes() * vector * count;
    made.align = align != 0 ? align : made.type.bytes() * vector;
    if (accept("=")) initialise(made);
    return made;
  }

  void initialise(Variable& variable) {
    variable.initial.resize(variable.size);
    std::size_t at = 0;
    const auto put = [&](std::uint64_t value) {
      if (at + variable.type.bytes() <= variable.size) std::memcpy(variable.initial.data() + at, &value, variable.type.bytes());
      at += variable.type.bytes();
    };
    if (peek() != "{") {
      put(constant(variable.type));
      return;
    }
    unsigned depth = 0;
    do {
      if (accept("{"))
        ++depth;
      else if (accept("}"))
        --depth;
      else if (!accept(","))
        put(constant(variable.type));
    } while (depth != 0);
  }

  std::uint64_t constant(const Type& type) {
    const bool negative = accept("-");
    const std::string text = take();
    std::uint64_t value = 0;
    if (text.rfind("0f", 0) == 0 || text.rfind("0F", 0) == 0 || text.rfind("0d", 0) == 0 || text.rfind("0D", 0) == 0)
      value = std::strtoull(text.c_str() + 2, nullptr, 16);
    else if (std::isdigit(static_cast<unsigned char>(text[0])) == 0)
      return 0;  // an address of another variable: zero until somebody needs it
    else if (text.find('.') != std::string::npos && type.letter == 'f') {
      const double real = std::strtod(text.c_str(), nullptr) * (negative ? -1 : 1);
      const float single = static_cast<float>(real);
      if (type.bits == 32)
        std::memcpy(&value, &single, sizeof single);
      else
        std::memcpy(&value, &real, sizeof real);
      return value;
    } else
      value = std::strtoull(text.c_str(), nullptr, 0);
    return negative ? 0 - value : value;
  }

  void function(bool entry, bool external) {
    Function made;
    made.entry = entry;
    std::vector<Variable> results;
    if (!entry && peek() == "(") parameters(results);
    made.name = take();
    if (peek() == "(") parameters(made.parameters);
    for (Variable& parameter : made.parameters) {
      const std::size_t align = std::max<std::size_t>(parameter.align, 1);
      made.parameter_bytes = (made.parameter_bytes + align - 1) / align * align;
      parameter.offset = made.parameter_bytes;
      made.parameter_bytes += parameter.size;
    }
    while (!peek().empty() && peek().front() == '.') performance(made);
    if (accept(";")) {
      program_.functions.push_back(std::move(made));
      return;
    }
    (void)external;
    for (const Function& other : program_.functions)
      if (other.name == made.name && other.has_body) invalid(line(), "Duplicate definition of function '" + made.name + "'");
    made.has_body = true;
    names_.clear();
    labels_.clear();
    for (const Variable& parameter : made.parameters) names_.insert(parameter.name);
    for (const Variable& result : results) {
      names_.insert(result.name);
      if (result.space == Space::reg) made.registers.push_back(result.name);
    }
    expect("{");
    block(made);
    link(made);
    program_.functions.push_back(std::move(made));
  }

  void parameters(std::vector<Variable>& into) {
    expect("(");
    while (!accept(")")) {
      const std::string space = take();
      if (space != ".param" && space != ".reg") invalid(line(), "Parsing error near '" + space + "': syntax error");
      into.push_back(variable(space == ".param" ? Space::param : Space::reg, false));
      accept(",");
    }
  }

  void performance(Function& made) {
    const std::string word = take();
    const auto three = [&](int (&values)[3]) {
      values[0] = static_cast<int>(number());
      values[1] = values[2] = 1;
      if (accept(",")) values[1] = static_cast<int>(number());
      if (accept(",")) values[2] = static_cast<int>(number());
    };
    int ignored[3];
    if (word == ".maxntid")
      three(made.max_threads);
    else if (word == ".reqntid")
      three(ignored);  // recorded (function_attributes): the attribute stays 1024
    else if (word == ".reqnctapercluster")
      three(made.cluster);
    else if (word == ".explicitcluster")
      made.explicit_cluster = true;
    else if (word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg" || word == ".maxclusterrank")
      (void)number();
    else if (word == ".pragma") {
      while (take() != ";") {
      }
    } else if (word != ".noreturn" && word != ".blocksareclusters")
      invalid(line(), "Parsing error near '" + word + "': syntax error");
  }

  void block(Function& made) {
    while (!accept("}")) statement(made);
  }

  void statement(Function& made) {
    if (accept("{")) {
      block(made);
      return;
    }
    if (accept(";")) return;
    const std::string word(peek());
    if (word == ".reg")
      registers(made);
    else if (word == ".shared" || word == ".local" || word == ".param" || word == ".const" || word == ".global") {
      take();
      auto& into = word == ".shared" ? made.shared : made.local;
      const Space space = word == ".shared" ? Space::shared : Space::local;
      const std::size_t first = into.size();
      variables(space, false, into);
      for (std::size_t i = first; i < into.size(); ++i) {
        names_.insert(into[i].name);
        std::size_t& total = word == ".shared" ? made.shared_bytes : made.local_bytes;
        total = (total + into[i].align - 1) / into[i].align * into[i].align;
        into[i].offset = total;
        total += into[i].size;
      }
    } else if (word == ".loc" || word == ".pragma" || word == ".file" || word == ".section")
      skip_directive();
    else if (word.rfind(".branchtargets", 0) == 0 || word.rfind(".calltargets", 0) == 0 || word.rfind(".callprototype", 0) == 0) {
      while (take() != ";") {
      }
    } else if (at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == ":") {
      labels_[word] = made.body.size();
      at_ += 2;
    } else
      instruction(made);
  }

  void registers(Function& made) {
    take();
    const std::string word = take();
    Type type;
    std::string_view bare = std::string_view(word).substr(1);
    std::string second;
    if (bare == "v2" || bare == "v4") {
      second = take();
      bare = std::string_view(second).substr(1);
    }
    if (!type_of(bare, type)) invalid(line(), "Unknown type '" + word + "'");
    do {
      const std::string name = take();
      if (accept("<")) {
        const std::uint64_t count = number();
        expect(">");
        for (std::uint64_t i = 0; i < count; ++i) made.registers.push_back(name + std::to_string(i));
      } else
        made.registers.push_back(name);
    } while (accept(","));
    expect(";");
  }

  int register_index(const Function& made, std::string_view name) const {
    const auto at = std::find(made.registers.rbegin(), made.registers.rend(), name);
    return at == made.registers.rend() ? -1 : static_cast<int>(made.registers.rend() - at) - 1;
  }

  void instruction(Function& made) {
    Instruction next;
    next.line = line();
    if (accept("@")) {
      next.predicate_negated = accept("!");
      const std::string name = take();
      next.predicate = register_index(made, name);
      if (next.predicate < 0) invalid(next.line, "Unknown symbol '" + name + "'");
    }
    const std::string word = take();
    for (std::size_t from = 0; from <= word.size();) {
      const std::size_t dot = std::min(word.find('.', from), word.size());
      next.opcode.push_back(word.substr(from, dot - from));
      from = dot + 1;
    }
    if (opcodes().find(next.opcode[0]) == opcodes().end())
      invalid(next.line, "Parsing error near '" + word + "': syntax error");
    unsigned depth = 0;
    while (peek() != ";" || depth != 0) {
      if (accept(",") || accept("|") || accept("+")) continue;
      if (accept("{") || accept("(")) {
        ++depth;
        continue;
      }
      if (accept("}") || accept(")")) {
        --depth;
        continue;
      }
      next.operands.push_back(operand(made));
    }
    expect(";");
    made.body.push_back(std::move(next));
  }

  Operand operand(const Function& made) {
    Operand made_operand;
    if (accept("[")) {
      made_operand = operand(made);
      if (made_operand.kind == Operand::Kind::integer) made_operand.reg = -1;
      std::int64_t offset = made_operand.kind == Operand::Kind::integer ? static_cast<std::int64_t>(made_operand.value) : 0;
      while (!accept("]")) {
        if (accept("+")) {
          if (accept("-"))
            offset -= static_cast<std::int64_t>(number());
          else
            offset += static_cast<std::int64_t>(number());
        } else if (accept("-"))
          offset -= static_cast<std::int64_t>(number());
        else if (!accept(",") && !accept("{") && !accept("}"))
          (void)operand(made);
      }
      made_operand.kind = Operand::Kind::address;
      made_operand.value = static_cast<std::uint64_t>(offset);
      return made_operand;
    }
    made_operand.negated = accept("!");
    const bool negative = accept("-");
    const std::string text = take();
    const bool digit = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    if (digit) {
      const bool single = text.rfind("0f", 0) == 0 || text.rfind("0F", 0) == 0;
      const bool real = single || text.rfind("0d", 0) == 0 || text.rfind("0D", 0) == 0;
      if (real) {
        made_operand.kind = Operand::Kind::real;
        const std::uint64_t bits = std::strtoull(text.c_str() + 2, nullptr, 16);
        double value = 0;
        if (single) {
          float narrow = 0;
          const auto low = static_cast<std::uint32_t>(bits);
          std::memcpy(&narrow, &low, sizeof narrow);
          value = static_cast<double>(narrow);
        } else
          std::memcpy(&value, &bits, sizeof value);
        std::memcpy(&made_operand.value, &value, sizeof value);
      } else if (text.find('.') != std::string::npos) {
        made_operand.kind = Operand::Kind::real;
        const double value = std::strtod(text.c_str(), nullptr) * (negative ? -1 : 1);
        std::memcpy(&made_operand.value, &value, sizeof value);
      } else {
        made_operand.kind = Operand::Kind::integer;
        made_operand.value = std::strtoull(text.c_str(), nullptr, 0);
        if (negative) made_operand.value = 0 - made_operand.value;
      }
      return made_operand;
    }
    made_operand.reg = register_index(made, text);
    if (made_operand.reg < 0) {
      // A component of a vector register, a special register, or a name.
      const std::size_t dot = text.find('.');
      if (text[0] == '%' && dot != std::string::npos) made_operand.reg = register_index(made, text.substr(0, dot));
    }
    if (made_operand.reg >= 0) {
      made_operand.kind = Operand::Kind::reg;
    } else if (text[0] == '%') {
      if (!special(text)) invalid(line(), "Unknown symbol '" + text + "'");
      made_operand.kind = Operand::Kind::special;
      made_operand.symbol = text;
    } else {
      made_operand.kind = Operand::Kind::symbol;
      made_operand.symbol = text;
    }
    return made_operand;
  }

  static bool special(std::string_view name) {
    static constexpr std::string_view kPrefixes[] = {"%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid",
        "%nsmid", "%gridid", "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_", "%lanemask_", "%clock", "%globaltimer",
        "%pm", "%envreg", "%reserved_smem", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec"};
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view p) { return name.rfind(p, 0) == 0; });
  }

  // Branch targets become indices; names must be known.
  void link(Function& made) {
    for (Instruction& next : made.body) {
      const std::string& code = next.opcode[0];
      if (code == "bra") {
        const auto label = next.operands.empty() ? labels_.end() : labels_.find(next.operands[0].symbol);
        if (label == labels_.end()) invalid(next.line, "Label expected for branch");
        next.target = label->second;
      } else if (code == "call") {
        for (const Operand& operand : next.operands)
          if (operand.kind == Operand::Kind::symbol && names_.count(operand.symbol) == 0) made.calls.push_back(operand.symbol);
      } else {
        for (const Operand& operand : next.operands)
          if (!operand.symbol.empty() && operand.kind != Operand::Kind::special && names_.count(operand.symbol) == 0 && !known(operand.symbol) &&
              labels_.count(operand.symbol) == 0)
            invalid(next.line, "Unknown symbol '" + operand.symbol + "'");
      }
    }
  }

  [[nodiscard]] bool known(std::string_view name) const {
    return std::any_of(program_.variables.begin(), program_.variables.end(), [&](const Variable& v) { return v.name == name; }) ||
           std::any_of(program_.functions.begin(), program_.functions.end(), [&](const Function& f) { return f.name == name; });
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Program program_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> labels_;
};

}  // namespace

Program parse(std::string_view text, bool resolve) { return Parser(text).run(resolve); }

void resolve_calls(const Program& program) {
  for (const Function& function : program.functions)
    for (const std::string& name : function.calls) {
      if (name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail") continue;
      const bool defined = std::any_of(program.functions.begin(), program.functions.end(),
                                       [&](const Function& other) { return other.name == name && other.has_body; });
      if (!defined) invalid(1, "Unresolved extern function '" + name + "'");
    }
}

}  // namespace cufault::sim::ptx

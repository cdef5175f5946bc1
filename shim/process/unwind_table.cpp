// SPDX-License-Identifier: Apache-2.0
// Reads .eh_frame_hdr and .eh_frame, as the Linux Standard Base and DWARF describe them, for x86-64.
#include "unwind_table.h"

#include <cstring>

namespace cufault::process {
namespace {

// DWARF's numbers of the registers that matter on x86-64.
constexpr std::uint64_t frame_register = 6;
constexpr std::uint64_t stack_register = 7;
constexpr std::uint64_t return_column = 16;

// Encodings of pointers in these tables.
constexpr std::uint8_t encoding_omit = 0xff;
constexpr std::uint8_t encoding_data_relative_4 = 0x3b;

// A place in a table, with its end: nothing is read beyond.
class cursor {
 public:
  cursor(const unsigned char *at, const unsigned char *end) noexcept : at_(at), end_(end) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool more() const noexcept { return good_ && at_ < end_; }
  [[nodiscard]] const unsigned char *at() const noexcept { return at_; }
  [[nodiscard]] const unsigned char *end() const noexcept { return end_; }

  template <class T>
  T fixed() noexcept {
    T value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      good_ = false;
    } else {
      std::memcpy(&value, at_, sizeof value);
      at_ += sizeof value;
    }
    return value;
  }
  std::uint64_t unsigned_number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0 || !good_) return value;
    }
  }
  std::int64_t signed_number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0 && good_) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  void skip(std::uint64_t count) noexcept {
    if (static_cast<std::uint64_t>(end_ - at_) < count) {
      good_ = false;
    } else {
      at_ += count;
    }
  }
  // A pointer as `encoding` says; only forms relative to their own place or absolute are met in .eh_frame.
  std::uintptr_t pointer(std::uint8_t encoding) noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(at_);
    std::uintptr_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = fixed<std::uintptr_t>(); break;
      case 0x03: value = fixed<std::uint32_t>(); break;
      case 0x0b: value = static_cast<std::uintptr_t>(std::intptr_t{fixed<std::int32_t>()}); break;
      default: good_ = false;
    }
    if ((encoding & 0x70) == 0x10) return value + here;
    if ((encoding & 0x70) != 0) good_ = false;
    return value;
  }

 private:
  const unsigned char *at_;
  const unsigned char *end_;
  bool good_ = true;
};

struct common_information {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool augmented = false;
  bool signal_frame = false;
  const unsigned char *program = nullptr;
  const unsigned char *end = nullptr;
};

// The record at `at`: a length, then that many bytes.
cursor record_at(const unsigned char *at) noexcept {
  std::uint32_t length = 0;
  std::memcpy(&length, at, sizeof length);
  // 64-bit records and the terminator are not met where the header points.
  return length == 0 || length == 0xffffffffu ? cursor(at, at) : cursor(at + 4, at + 4 + length);
}

bool read_common(const unsigned char *at, common_information &into) noexcept {
  cursor in = record_at(at);
  if (!in.more() || in.fixed<std::uint32_t>() != 0) return false;
  const auto version = in.fixed<std::uint8_t>();
  const auto *const augmentation = reinterpret_cast<const char *>(in.at());
  while (in.more() && in.fixed<char>() != '\0') {
  }
  into.code_alignment = in.unsigned_number();
  into.data_alignment = in.signed_number();
  into.return_register = version == 1 ? in.fixed<std::uint8_t>() : in.unsigned_number();
  if (!in.good() || (version != 1 && version != 3)) return false;
  if (*augmentation == 'z') {
    into.augmented = true;
    const std::uint64_t size = in.unsigned_number();
    cursor data(in.at(), in.end());
    in.skip(size);
    for (const char *letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') into.pointer_encoding = data.fixed<std::uint8_t>();
      if (*letter == 'S') into.signal_frame = true;
      if (*letter == 'L') data.skip(1);
      if (*letter == 'P') {
        const auto encoding = data.fixed<std::uint8_t>();
        data.pointer(static_cast<std::uint8_t>(encoding & 0x7f));
      }
    }
    if (!data.good()) return false;
  }
  into.program = in.at();
  into.end = in.end();
  return in.good();
}

// The state of the table's little machine, for the three columns that are followed.
struct row {
  unwind_rule rule;
  bool return_undefined = false;
};

// DW_OP_bregN offset, alone or dereferenced: all that compilers write for frames whose stack was realigned.
struct simple_expression {
  bool understood = false;
  bool dereferenced = false;
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
};
simple_expression read_expression(cursor &in) noexcept {
  constexpr std::uint8_t breg0 = 0x70, deref = 0x06;
  const std::uint64_t size = in.unsigned_number();
  cursor inside(in.at(), in.at() + (size <= static_cast<std::uint64_t>(in.end() - in.at()) ? size : 0));
  in.skip(size);
  simple_expression found;
  const auto first = inside.fixed<std::uint8_t>();
  if (!inside.good() || first < breg0 || first > breg0 + 31) return found;
  found.reg = first - breg0;
  found.offset = inside.signed_number();
  if (inside.more()) found.dereferenced = inside.fixed<std::uint8_t>() == deref;
  found.understood = inside.good() && !inside.more();
  return found;
}

class machine {
 public:
  machine(const common_information &common, std::uintptr_t start, std::uintptr_t wanted) noexcept
      : common_(common), here_(start), wanted_(wanted) {}

  // False: something in it is not understood.
  [[nodiscard]] bool run(const unsigned char *program, const unsigned char *end) noexcept {
    cursor in(program, end);
    while (in.more() && here_ <= wanted_) {
      if (!step(in)) return false;
    }
    return in.good();
  }
  void begin_function() noexcept { initial_ = now_; }
  [[nodiscard]] const row &result() const noexcept { return now_; }

 private:
  void advance(std::uint64_t delta) noexcept {
    const std::uintptr_t next = here_ + delta * common_.code_alignment;
    // What follows describes addresses beyond the one that is asked for.
    here_ = next > wanted_ ? wanted_ + 1 : next;
  }
  void define_cfa(std::uint64_t reg, std::int64_t offset) noexcept {
    now_.rule.cfa = reg == stack_register   ? unwind_rule::base::stack
                    : reg == frame_register ? unwind_rule::base::frame
                                            : unwind_rule::base::unknown;
    now_.rule.cfa_offset = static_cast<std::int32_t>(offset);
  }
  void saved_at(std::uint64_t reg, std::int64_t offset) noexcept {
    if (reg != frame_register) return;
    now_.rule.frame = unwind_rule::saved::at_cfa;
    now_.rule.frame_offset = static_cast<std::int32_t>(offset);
  }
  void restore(std::uint64_t reg) noexcept {
    if (reg == frame_register) {
      now_.rule.frame = initial_.rule.frame;
      now_.rule.frame_offset = initial_.rule.frame_offset;
    }
  }
  [[nodiscard]] std::int64_t factored(cursor &in) noexcept { return static_cast<std::int64_t>(in.unsigned_number()) * common_.data_alignment; }

  [[nodiscard]] bool step(cursor &in) noexcept {
    const auto code = in.fixed<std::uint8_t>();
    const std::uint64_t low = code & 0x3fu;
    switch (code & 0xc0) {
      case 0x40: advance(low); return true;
      case 0x80: saved_at(low, factored(in)); return in.good();
      case 0xc0: restore(low); return true;
      default: break;
    }
    std::uint64_t reg = 0;
    switch (code) {
      case 0x00: break;                                                              // nop
      case 0x01: {                                                                   // set_loc
        const std::uintptr_t next = in.pointer(common_.pointer_encoding);
        here_ = next > wanted_ ? wanted_ + 1 : next;
        break;
      }
      case 0x02: advance(in.fixed<std::uint8_t>()); break;                           // advance_loc1
      case 0x03: advance(in.fixed<std::uint16_t>()); break;                          // advance_loc2
      case 0x04: advance(in.fixed<std::uint32_t>()); break;                          // advance_loc4
      case 0x05: reg = in.unsigned_number(); saved_at(reg, factored(in)); break;     // offset_extended
      case 0x06: restore(in.unsigned_number()); break;                               // restore_extended
      case 0x07:                                                                     // undefined
        reg = in.unsigned_number();
        if (reg == return_column) now_.return_undefined = true;
        if (reg == frame_register) now_.rule.frame = unwind_rule::saved::lost;
        break;
      case 0x08:                                                                     // same_value
        if (in.unsigned_number() == frame_register) now_.rule.frame = unwind_rule::saved::same;
        break;
      case 0x09:                                                                     // register
        if (in.unsigned_number() == frame_register) now_.rule.frame = unwind_rule::saved::lost;
        (void)in.unsigned_number();
        break;
      case 0x0a:                                                                     // remember_state
        if (depth_ == most_remembered) return false;
        remembered_[depth_++] = now_;
        break;
      case 0x0b:                                                                     // restore_state
        if (depth_ == 0) return false;
        now_ = remembered_[--depth_];
        break;
      case 0x0c: reg = in.unsigned_number(); define_cfa(reg, static_cast<std::int64_t>(in.unsigned_number())); break;  // def_cfa
      case 0x0d: define_cfa(in.unsigned_number(), now_.rule.cfa_offset); break;      // def_cfa_register
      case 0x0e: now_.rule.cfa_offset = static_cast<std::int32_t>(in.unsigned_number()); break;  // def_cfa_offset
      case 0x0f: cfa_expression(read_expression(in)); break;                         // def_cfa_expression
      case 0x10: reg = in.unsigned_number(); expression(reg, read_expression(in)); break;  // expression
      case 0x11: reg = in.unsigned_number(); saved_at(reg, in.signed_number() * common_.data_alignment); break;  // offset_extended_sf
      case 0x12: reg = in.unsigned_number(); define_cfa(reg, in.signed_number() * common_.data_alignment); break;  // def_cfa_sf
      case 0x13: now_.rule.cfa_offset = static_cast<std::int32_t>(in.signed_number() * common_.data_alignment); break;  // def_cfa_offset_sf
      case 0x16: reg = in.unsigned_number(); (void)read_expression(in); if (reg == frame_register) now_.rule.frame = unwind_rule::saved::lost; break;  // val_expression
      case 0x2e: (void)in.unsigned_number(); break;                                  // GNU_args_size
      default: return false;
    }
    return in.good();
  }
  void cfa_expression(const simple_expression &found) noexcept {
    const bool usable = found.understood && found.dereferenced && found.reg == frame_register;
    now_.rule.cfa = usable ? unwind_rule::base::frame_memory : unwind_rule::base::unknown;
    now_.rule.cfa_offset = static_cast<std::int32_t>(found.offset);
  }
  void expression(std::uint64_t reg, const simple_expression &found) noexcept {
    if (reg != frame_register) return;
    const bool usable = found.understood && !found.dereferenced && found.reg == frame_register;
    now_.rule.frame = usable ? unwind_rule::saved::at_frame : unwind_rule::saved::lost;
    now_.rule.frame_offset = static_cast<std::int32_t>(found.offset);
  }

  static constexpr std::size_t most_remembered = 8;
  const common_information &common_;
  std::uintptr_t here_;
  std::uintptr_t wanted_;
  row now_;
  row initial_;
  row remembered_[most_remembered];
  std::size_t depth_ = 0;
};

// The header's table of (start of function, its record), both relative to the header, sorted: the last that starts at or before.
const unsigned char *find_record(const unsigned char *header, std::size_t size, std::uintptr_t address) noexcept {
  cursor in(header, header + size);
  const auto version = in.fixed<std::uint8_t>();
  const auto frame_encoding = in.fixed<std::uint8_t>();
  const auto count_encoding = in.fixed<std::uint8_t>();
  const auto table_encoding = in.fixed<std::uint8_t>();
  if (version != 1 || count_encoding == encoding_omit || table_encoding != encoding_data_relative_4) return nullptr;
  (void)in.pointer(frame_encoding);
  const std::uintptr_t count = in.pointer(count_encoding);
  if (!in.good() || count == 0 || count > static_cast<std::size_t>(in.end() - in.at()) / 8) return nullptr;
  const unsigned char *const table = in.at();
  const auto number = [&](std::size_t i, std::size_t offset) noexcept {
    std::int32_t value = 0;
    std::memcpy(&value, table + i * 8 + offset, sizeof value);
    return reinterpret_cast<std::uintptr_t>(header) + static_cast<std::uintptr_t>(std::intptr_t{value});
  };
  std::size_t low = 0, high = count;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (number(middle, 0) <= address ? low : high) = middle;
  }
  return number(low, 0) <= address ? reinterpret_cast<const unsigned char *>(number(low, 4)) : nullptr;
}

}  // namespace

unwind_rule read_unwind_rule(const unsigned char *header, std::size_t header_size, std::uintptr_t address) noexcept {
  const unsigned char *const record = find_record(header, header_size, address);
  if (record == nullptr) return {};
  cursor in = record_at(record);
  if (!in.more()) return {};
  const unsigned char *const back_from = in.at();
  common_information common;
  if (!read_common(back_from - in.fixed<std::uint32_t>(), common) || common.signal_frame) return {};
  if (common.return_register != return_column) return {};
  const std::uintptr_t start = in.pointer(common.pointer_encoding);
  const std::uintptr_t length = in.pointer(common.pointer_encoding & 0x0f);
  if (common.augmented) in.skip(in.unsigned_number());
  if (!in.good() || address - start >= length) return {};
  machine table(common, start, address);
  if (!table.run(common.program, common.end)) return {};
  table.begin_function();
  if (!table.run(in.at(), in.end())) return {};
  unwind_rule rule = table.result().rule;
  if (table.result().return_undefined) rule.cfa = unwind_rule::base::outermost;
  return rule;
}

}  // namespace cufault::process

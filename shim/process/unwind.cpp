// SPDX-License-Identifier: Apache-2.0
// The walk, and the table of what is known of return addresses.
#include "unwind.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "memory.h"
#include "unwind_table.h"

namespace cufault::process {
namespace {

/* A rule in one word: its form, both offsets, and 16 bits of the address that it belongs to. */
struct packed {
  static constexpr std::int64_t most_cfa = std::int64_t{1} << 26;
  static constexpr std::int64_t most_frame = std::int64_t{1} << 15;

  static std::uint64_t check(std::uintptr_t address) noexcept { return (address ^ address >> 16 ^ address >> 32) & 0xffff; }
  static std::uint64_t pack(const unwind_rule &rule, std::uintptr_t address) noexcept {
    unwind_rule kept = rule;
    const auto fits = [](std::int64_t value, std::int64_t most) { return value >= -most && value < most; };
    if (!fits(rule.cfa_offset, most_cfa) || !fits(rule.frame_offset, most_frame)) kept = {};
    return static_cast<std::uint64_t>(kept.cfa) | static_cast<std::uint64_t>(kept.frame) << 3 |
           (static_cast<std::uint64_t>(kept.cfa_offset) & 0x7ffffff) << 5 |
           (static_cast<std::uint64_t>(kept.frame_offset) & 0xffff) << 32 | check(address) << 48;
  }
  static unwind_rule unpack(std::uint64_t word) noexcept {
    unwind_rule rule;
    rule.cfa = static_cast<unwind_rule::base>(word & 7);
    rule.frame = static_cast<unwind_rule::saved>(word >> 3 & 3);
    rule.cfa_offset = static_cast<std::int32_t>(static_cast<std::int64_t>(word << 32) >> 37);
    rule.frame_offset = static_cast<std::int16_t>(word >> 32 & 0xffff);
    return rule;
  }
};

struct question {
  std::uintptr_t address;
  const unsigned char *header;
  std::size_t size;
  std::uint64_t unloads;
};

int find_tables(dl_phdr_info *module, std::size_t, void *given) {
  auto *const asked = static_cast<question *>(given);
  asked->unloads = module->dlpi_subs;
  const ElfW(Phdr) *tables = nullptr;
  bool inside = false;
  for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = module->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) tables = &segment;
    if (segment.p_type == PT_LOAD && asked->address - (module->dlpi_addr + segment.p_vaddr) < segment.p_memsz) inside = true;
  }
  if (!inside) return 0;
  if (tables != nullptr) {
    asked->header = reinterpret_cast<const unsigned char *>(module->dlpi_addr + tables->p_vaddr);
    asked->size = tables->p_memsz;
  }
  return 1;
}

// "55d0c8a00000-55d0c8a21000 rw-p ...": the two numbers of the line that holds `address`.
bool find_mapping(std::uintptr_t address, stack_bounds &into) noexcept {
  const int saved_errno = errno;
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char buffer[4096];
  std::uintptr_t numbers[2] = {};
  int which = 0;
  bool found = false;
  ssize_t got = 0;
  while (!found && (got = ::read(file, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < got && !found; ++i) {
      const char letter = buffer[i];
      if (letter == '\n') {
        which = 0;
        numbers[0] = numbers[1] = 0;
      } else if (which > 1) {
        continue;
      } else if (letter == '-' || letter == ' ') {
        ++which;
        found = which == 2 && address >= numbers[0] && address < numbers[1];
      } else {
        const int digit = letter >= 'a' ? letter - 'a' + 10 : letter - '0';
        numbers[which] = numbers[which] << 4 | static_cast<std::uintptr_t>(digit);
      }
    }
  }
  ::close(file);
  errno = saved_errno;
  if (found) into = {numbers[0], numbers[1]};
  return found;
}

std::uintptr_t word_at(std::uintptr_t address) noexcept {
  std::uintptr_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void *>(address), sizeof word);
  return word;
}

}  // namespace

bool unwinder::start() noexcept {
  cache_ = map_array<entry>(entries);
  return cache_ != nullptr;
}

std::uint64_t unwinder::rule_for(std::uintptr_t address) noexcept {
  entry &place = cache_[(address ^ address >> 13) % entries];
  const std::uint64_t known = place.rule.load(std::memory_order_relaxed);
  if (place.address.load(std::memory_order_relaxed) == address && known >> 48 == packed::check(address)) return known;
  question asked{address, nullptr, 0, 0};
  ::dl_iterate_phdr(find_tables, &asked);
  if (unloads_.exchange(asked.unloads, std::memory_order_relaxed) != asked.unloads) {
    // A module has gone, and another may stand in its place.
    for (std::size_t i = 0; i < entries; ++i) cache_[i].address.store(0, std::memory_order_relaxed);
  }
  unwind_rule rule;
  if (asked.header != nullptr) rule = read_unwind_rule(asked.header, asked.size, address - 1);
  const std::uint64_t word = packed::pack(rule, address);
  place.rule.store(word, std::memory_order_relaxed);
  place.address.store(address, std::memory_order_relaxed);
  return word;
}

std::size_t unwinder::walk(const void *frame, stack_bounds &bounds, std::uintptr_t *into, std::size_t most) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(frame);
  if ((start < bounds.low || start >= bounds.high) && !find_mapping(start, bounds)) return 0;
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  const auto readable = [&](std::uintptr_t at, std::uintptr_t above) {
    return at >= above && at % word == 0 && at < bounds.high && bounds.high - at >= word;
  };
  // A frame address points to the caller's frame pointer, and above it the return address.
  if (!readable(start + word, start)) return 0;
  std::uintptr_t base = word_at(start);
  std::uintptr_t address = word_at(start + word);
  std::uintptr_t stack = start + 2 * word;
  std::size_t count = 0;
  while (address != 0 && count < most) {
    into[count++] = address;
    const unwind_rule rule = packed::unpack(rule_for(address));
    std::uintptr_t cfa = 0;
    const auto offset = static_cast<std::uintptr_t>(std::intptr_t{rule.cfa_offset});
    switch (rule.cfa) {
      case unwind_rule::base::stack: cfa = stack + offset; break;
      case unwind_rule::base::frame: cfa = base + offset; break;
      case unwind_rule::base::frame_memory:
        if (!readable(base + offset, stack - 2 * word)) return count;
        cfa = word_at(base + offset);
        break;
      case unwind_rule::base::unknown: cfa = base + 2 * word; break;
      case unwind_rule::base::outermost: return count;
    }
    // Up the stack, never down: a walk ends whatever it reads.
    if (!readable(cfa - word, stack)) return count;
    std::uintptr_t saved = 0;
    const auto frame_offset = static_cast<std::uintptr_t>(std::intptr_t{rule.frame_offset});
    switch (rule.cfa == unwind_rule::base::unknown ? unwind_rule::saved::at_frame : rule.frame) {
      case unwind_rule::saved::same: saved = base; break;
      case unwind_rule::saved::at_cfa: saved = cfa + frame_offset; break;
      case unwind_rule::saved::at_frame: saved = base + frame_offset; break;
      case unwind_rule::saved::lost: saved = 0; break;
    }
    const bool in_memory = rule.cfa == unwind_rule::base::unknown || rule.frame == unwind_rule::saved::at_cfa ||
                           rule.frame == unwind_rule::saved::at_frame;
    if (in_memory) saved = readable(saved, stack - 2 * word) ? word_at(saved) : 0;
    base = saved;
    address = word_at(cfa - word);
    stack = cfa;
  }
  return count;
}

}  // namespace cufault::process

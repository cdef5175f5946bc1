// SPDX-License-Identifier: Apache-2.0
// Reads a plan, and refuses whatever this build cannot do.
#include "plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "glob.h"
#include "process/memory.h"

namespace cufault::libc {
namespace {

constexpr std::size_t most_of_a_plan = std::size_t{1} << 24;
constexpr std::uint32_t most_firings = 1u << 20;
constexpr std::uint32_t all_functions = (1u << function_count) - 1;
constexpr std::uint32_t all_flags = CUFAULT_LIBC_REALLY_CLOSE;

template <std::size_t Count>
bool all_zero(const std::uint32_t (&words)[Count]) noexcept {
  for (const std::uint32_t word : words) {
    if (word != 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t plan_checksum(const char* bytes, std::size_t size) noexcept {
  constexpr std::size_t skipped = offsetof(cufault_libc_plan_header, checksum);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i) {
    const bool in_checksum = i >= skipped && i < skipped + sizeof(std::uint64_t);
    hash = (hash ^ (in_checksum ? 0u : static_cast<unsigned char>(bytes[i]))) * 0x100000001b3u;
  }
  return hash;
}

bool plan::check_header(process::message& why) const noexcept {
  if (*run_folder() != '/') {
    why << "run_folder '" << run_folder() << "' is not an absolute path";
    return false;
  }
  if (header_->firing_capacity > most_firings) {
    why << "firing_capacity " << header_->firing_capacity << " is more than the " << most_firings << " of a record";
    return false;
  }
  if (!all_zero(header_->reserved)) {
    why << "reserved fields of the header are not zero: it was written for a newer version";
    return false;
  }
  return true;
}

bool plan::check_rule(std::uint32_t index, process::message& why) const noexcept {
  const cufault_libc_rule& rule = rules_[index];
  process::message reason;
  const bool closes = rule.functions == CUFAULT_LIBC_CLOSE;
  if (rule.label >= header_->strings_size || rule.module >= header_->strings_size) {
    reason << "a string is outside the strings";
  } else if (*label(index) == '\0' || std::strlen(label(index)) >= CUFAULT_LIBC_NAME) {
    reason << "its label is empty or longer than " << CUFAULT_LIBC_NAME - 1 << " bytes";
  } else if (rule.functions == 0 || (rule.functions & ~all_functions) != 0) {
    (reason << "functions ").hex(rule.functions) << " are not known to this build";
  } else if ((rule.functions & CUFAULT_LIBC_CLOSE) != 0 && !closes) {
    reason << "close shares no rule with an allocation";
  } else if ((rule.flags & ~all_flags) != 0 || (rule.flags != 0 && !closes)) {
    (reason << "flags ").hex(rule.flags) << " are not known to this build for those functions";
  } else if (rule.from == 0 || rule.every == 0) {
    reason << "from and every count from 1";
  } else if (closes && (rule.error < 1 || rule.error > 4095)) {
    reason << "error " << rule.error << " is no errno";
  } else if (!closes && rule.error != 0) {
    reason << "an allocation always says ENOMEM";
  } else if (closes ? rule.descriptor < -1 : rule.descriptor != -1) {
    reason << "descriptor " << rule.descriptor << " is neither -1 nor one to close";
  } else if (closes ? rule.least_size != 0 || rule.most_size != 0
                    : rule.most_size != 0 && rule.most_size < rule.least_size) {
    reason << "sizes from " << rule.least_size << " to " << rule.most_size << " hold for no call";
  } else if (!all_zero(rule.reserved)) {
    reason << "reserved fields are not zero: it was written for a newer version";
  } else {
    for (std::uint32_t other = 0; other < index; ++other) {
      if (std::strcmp(label(other), label(index)) == 0) reason << "its label is that of rule " << other + 1;
    }
  }
  if (reason.size() == 0) return true;
  why << "rule " << index + 1 << ": " << reason.view();
  return false;
}

bool plan::read(const char* bytes, std::size_t size, process::message& why) noexcept {
  if (size < sizeof(cufault_libc_plan_header)) {
    why << "it has " << std::uint64_t{size} << " bytes, too few for a plan";
    return false;
  }
  header_ = reinterpret_cast<const cufault_libc_plan_header*>(bytes);
  if (std::memcmp(header_->magic, CUFAULT_LIBC_PLAN_MAGIC, sizeof header_->magic) != 0) {
    why << "it is not a plan of " CUFAULT_LIBC_PLAN_VARIABLE;
    return false;
  }
  if (header_->version != CUFAULT_LIBC_PLAN_VERSION || header_->header_size != sizeof *header_) {
    why << "it is of version " << header_->version << ", this build reads version " << CUFAULT_LIBC_PLAN_VERSION;
    return false;
  }
  if (header_->file_size != size) {
    why << "it has " << std::uint64_t{size} << " bytes instead of the " << header_->file_size << " that it says";
    return false;
  }
  if (plan_checksum(bytes, size) != header_->checksum) {
    why << "its checksum is wrong: it was changed or cut after it was written";
    return false;
  }
  if (rule_count() > CUFAULT_LIBC_MOST_RULES) {
    why << "it has " << rule_count() << " rules, more than the " << CUFAULT_LIBC_MOST_RULES << " that are honoured";
    return false;
  }
  const std::uint64_t rules_end = std::uint64_t{header_->rules_at} + rule_count() * sizeof(cufault_libc_rule);
  const std::uint64_t strings_end = std::uint64_t{header_->strings_at} + header_->strings_size;
  if (header_->rules_at < sizeof *header_ || header_->rules_at % alignof(cufault_libc_rule) != 0 || rules_end > size ||
      header_->strings_at < sizeof *header_ || strings_end > size || header_->strings_size == 0) {
    why << "its parts do not lie inside the file";
    return false;
  }
  rules_ = reinterpret_cast<const cufault_libc_rule*>(bytes + header_->rules_at);
  strings_ = bytes + header_->strings_at;
  // Offset 0 is the empty string, and the last byte ends the last string: then no offset can run out of the block.
  if (strings_[0] != '\0' || strings_[header_->strings_size - 1] != '\0' ||
      header_->run_folder >= header_->strings_size) {
    why << "its strings do not begin and end with a NUL, or one is outside them";
    return false;
  }
  if (!check_header(why)) return false;
  for (std::uint32_t i = 0; i < rule_count(); ++i) {
    if (!check_rule(i, why)) return false;
    const std::uint64_t bit = std::uint64_t{1} << i;
    for (std::uint32_t f = 0; f < function_count; ++f) {
      if ((rules_[i].functions & (1u << f)) != 0) watching_[f] |= bit;
    }
    if (rules_[i].module == 0) any_caller_ |= bit;
  }
  return true;
}

std::uint64_t plan::rules_watching(std::uint32_t function) const noexcept {
  return watching_[std::countr_zero(function)];
}

std::uint64_t plan::rules_for_module(const char* basename) const noexcept {
  std::uint64_t rules = any_caller_;
  for (std::uint32_t i = 0; i < rule_count(); ++i) {
    if (rules_[i].module != 0 && glob_matches(string(rules_[i].module), basename)) rules |= std::uint64_t{1} << i;
  }
  return rules;
}

const char* read_plan_file(const char* path, std::size_t& size, process::message& why) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    why << std::strerror(errno);
    return nullptr;
  }
  struct statx about {};
  const bool known = ::statx(file, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &about) == 0 && S_ISREG(about.stx_mode);
  size = known ? about.stx_size : 0;
  char* bytes = nullptr;
  if (!known) {
    why << "it is no regular file";
  } else if (size == 0 || size > most_of_a_plan) {
    why << "it has " << std::uint64_t{size} << " bytes";
  } else {
    bytes = static_cast<char*>(process::map_pages(size));
    for (std::size_t done = 0; bytes != nullptr && done < size;) {
      const ssize_t got = ::read(file, bytes + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        process::unmap_pages(bytes, size);
        bytes = nullptr;
      } else {
        done += static_cast<std::size_t>(got);
      }
    }
    if (bytes == nullptr) why << "it cannot be read whole";
  }
  ::close(file);
  return bytes;
}

}  // namespace cufault::libc

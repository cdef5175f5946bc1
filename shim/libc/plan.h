/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as it was read: checked whole before anybody looks at a field of it. */
#ifndef CUFAULT_LIBC_PLAN_H
#define CUFAULT_LIBC_PLAN_H

#include <cstddef>
#include <cstdint>

#include "cufault/libc_plan_format.h"
#include "process/refuse.h"

namespace cufault::libc {

constexpr std::uint32_t function_count = 6; /* bits of cufault_libc_function */

/* A view of the bytes of a plan file, which must outlive it. Immutable once read. */
class plan {
 public:
  /* True: every offset, bit and combination in it is one that this build honours. False: `why` says which is not. */
  [[nodiscard]] bool read(const char* bytes, std::size_t size, process::message& why) noexcept;

  [[nodiscard]] const cufault_libc_plan_header& header() const noexcept { return *header_; }
  [[nodiscard]] std::uint32_t rule_count() const noexcept { return header_->rule_count; }
  [[nodiscard]] const cufault_libc_rule& rule(std::uint32_t index) const noexcept { return rules_[index]; }
  [[nodiscard]] const char* label(std::uint32_t index) const noexcept { return string(rules_[index].label); }
  [[nodiscard]] const char* run_folder() const noexcept { return string(header_->run_folder); }
  [[nodiscard]] std::uint32_t firing_capacity() const noexcept {
    return header_->firing_capacity == 0 ? 1024 : header_->firing_capacity;
  }

  /* One bit a rule: those that watch that function; those that take any caller; those whose glob the basename matches.
   */
  [[nodiscard]] std::uint64_t rules_watching(std::uint32_t function) const noexcept;
  [[nodiscard]] std::uint64_t rules_for_any_caller() const noexcept { return any_caller_; }
  [[nodiscard]] std::uint64_t rules_for_module(const char* basename) const noexcept;

 private:
  [[nodiscard]] const char* string(std::uint32_t offset) const noexcept { return strings_ + offset; }
  [[nodiscard]] bool check_header(process::message& why) const noexcept;
  [[nodiscard]] bool check_rule(std::uint32_t index, process::message& why) const noexcept;

  const cufault_libc_plan_header* header_ = nullptr;
  const cufault_libc_rule* rules_ = nullptr;
  const char* strings_ = nullptr;
  std::uint64_t watching_[function_count] = {};
  std::uint64_t any_caller_ = 0;
};

/* FNV-1a, 64 bits, over a plan's bytes with its checksum field taken as zero. */
[[nodiscard]] std::uint64_t plan_checksum(const char* bytes, std::size_t size) noexcept;

/* The file's bytes, copied into memory that is kept for ever (a mapping would die with the file); nullptr: `why`. */
[[nodiscard]] const char* read_plan_file(const char* path, std::size_t& size, process::message& why) noexcept;

}  // namespace cufault::libc

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as it was read: checked whole before anybody looks at a field of it. */
#ifndef CUFAULT_FAULTS_PLAN_H
#define CUFAULT_FAULTS_PLAN_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cufault/plan_format.h"
#include "process/refuse.h"

namespace cufault::faults {

/* A view of the bytes of a plan file, which must outlive it. Immutable once read. */
class plan {
 public:
  /*
   * True: every offset, enumerator, name and combination in it is one that this build honours. False: `why` says which
   * is not; the plan must not be used. Nothing is ever ignored: a fault left out would make a run pass that tested nothing.
   */
  [[nodiscard]] bool read(const char *bytes, std::size_t size, process::message &why) noexcept;

  [[nodiscard]] const cufault_plan_header &header() const noexcept { return *header_; }
  [[nodiscard]] const char *string(std::uint32_t offset) const noexcept { return strings_ + offset; }

  [[nodiscard]] std::uint32_t rule_count() const noexcept { return header_->rule_count; }
  [[nodiscard]] const cufault_plan_rule &rule(std::uint32_t index) const noexcept { return rules_[index]; }
  [[nodiscard]] const char *label(std::uint32_t rule) const noexcept { return string(rules_[rule].label); }
  /* The i-th symbol that the rule lists: the string's offset, and its index in api::symbols. */
  [[nodiscard]] std::uint32_t rule_symbol_string(const cufault_plan_rule &rule, std::uint32_t i) const noexcept {
    return symbol_list_[rule.symbols_first + i];
  }
  [[nodiscard]] std::uint32_t rule_symbol(const cufault_plan_rule &rule, std::uint32_t i) const noexcept;

  [[nodiscard]] std::uint32_t step_count() const noexcept { return header_->step_count; }
  [[nodiscard]] std::uint32_t step_string(std::uint32_t index) const noexcept { return steps_[index]; }
  [[nodiscard]] const char *step_name(std::uint32_t index) const noexcept { return string(steps_[index]); }

  [[nodiscard]] std::uint32_t handle_name_count() const noexcept { return header_->handle_name_count; }
  [[nodiscard]] const cufault_plan_handle_name &handle_name(std::uint32_t index) const noexcept {
    return handle_names_[index];
  }

 private:
  const cufault_plan_header *header_ = nullptr;
  const cufault_plan_rule *rules_ = nullptr;
  const std::uint32_t *symbol_list_ = nullptr;
  const std::uint32_t *steps_ = nullptr;
  const cufault_plan_handle_name *handle_names_ = nullptr;
  const char *strings_ = nullptr;
};

/* FNV-1a, 64 bits, over a plan's bytes with its checksum field taken as zero. */
[[nodiscard]] std::uint64_t plan_checksum(const char *bytes, std::size_t size) noexcept;

}  // namespace cufault::faults

#endif

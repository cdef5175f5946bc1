/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for tests, put together field by field, so that a test can also put one together wrongly. */
#ifndef CUFAULT_TESTS_PLAN_BUILDER_H
#define CUFAULT_TESTS_PLAN_BUILDER_H

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cufault/plan_format.h"
#include "faults/plan.h"

namespace cufault::tests {

/* A rule with the values that a writer gives where nothing is asked for: the first matching call fails, once. */
inline cufault_plan_rule plain_rule(std::uint32_t effect = CUFAULT_EFFECT_FAIL, std::int32_t code = 700) {
  cufault_plan_rule rule{};
  rule.effect = effect;
  rule.code = code;
  rule.from = 1;
  rule.every = 1;
  rule.limit = effect == CUFAULT_EFFECT_MISSING ? 0 : 1;
  rule.probability = 1.0;
  return rule;
}

class plan_builder {
 public:
  cufault_plan_header header{};
  std::vector<cufault_plan_rule> rules;

  plan_builder() {
    std::memcpy(header.magic, CUFAULT_PLAN_MAGIC, sizeof header.magic);
    header.version = CUFAULT_PLAN_VERSION;
    header.header_size = sizeof header;
    header.backend = CUFAULT_BACKEND_REAL;
  }

  std::uint32_t string(std::string_view text) {
    if (text.empty()) return 0;
    const auto at = static_cast<std::uint32_t>(strings_.size());
    strings_.append(text).push_back('\0');
    return at;
  }
  /* Index + 1 of the rule. */
  std::uint32_t add(cufault_plan_rule rule, const std::vector<std::string> &symbols, std::string_view label = "") {
    const std::string given = label.empty() ? "rule " + std::to_string(rules.size() + 1) : std::string(label);
    if (rule.label == 0) rule.label = string(given);
    rule.symbols_first = static_cast<std::uint32_t>(symbols_.size());
    rule.symbols_count = static_cast<std::uint32_t>(symbols.size());
    for (const std::string &symbol : symbols) symbols_.push_back(string(symbol));
    rules.push_back(rule);
    return static_cast<std::uint32_t>(rules.size());
  }
  std::uint32_t step(std::string_view name) {
    steps_.push_back(string(name));
    return static_cast<std::uint32_t>(steps_.size());
  }
  std::uint32_t handle(std::string_view name, std::uint32_t kind, std::uint32_t step) {
    handle_names_.push_back({string(name), kind, step, 0});
    return static_cast<std::uint32_t>(handle_names_.size());
  }

  /* The file's bytes. The header's own fields are filled in where they are still 0, so that a test can spoil them first. */
  [[nodiscard]] std::string bytes() const {
    std::string file(sizeof header, '\0');
    cufault_plan_header head = header;
    const auto part = [&](std::uint32_t &at, std::uint32_t &count, const auto &items) {
      if (at == 0) at = static_cast<std::uint32_t>(file.size());
      if (count == 0) count = static_cast<std::uint32_t>(items.size());
      file.append(reinterpret_cast<const char *>(items.data()), items.size() * sizeof items[0]);
    };
    part(head.rules_at, head.rule_count, rules);
    part(head.symbol_list_at, head.symbol_list_count, symbols_);
    part(head.steps_at, head.step_count, steps_);
    part(head.handle_names_at, head.handle_name_count, handle_names_);
    part(head.strings_at, head.strings_size, strings_);
    if (head.file_size == 0) head.file_size = file.size();
    std::memcpy(file.data(), &head, sizeof head);
    sign(file);
    return file;
  }
  static void sign(std::string &file) {
    const std::uint64_t checksum = faults::plan_checksum(file.data(), file.size());
    std::memcpy(file.data() + offsetof(cufault_plan_header, checksum), &checksum, sizeof checksum);
  }
  void write(const std::string &path) const {
    const std::string file = bytes();
    std::ofstream(path, std::ios::binary).write(file.data(), static_cast<std::streamsize>(file.size()));
  }

 private:
  std::string strings_ = std::string(1, '\0');
  std::vector<std::uint32_t> symbols_;
  std::vector<std::uint32_t> steps_;
  std::vector<cufault_plan_handle_name> handle_names_;
};

}  // namespace cufault::tests

#endif

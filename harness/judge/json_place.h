// SPDX-License-Identifier: Apache-2.0
// A value in a JSON request together with its path, so that every refusal names the place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace cufault::judge {

// Does not own the value. Every getter throws request_error where the value is not of the type asked for.
class json_place {
 public:
  json_place(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const nlohmann::json& value() const noexcept { return *value_; }
  [[nodiscard]] bool is_text() const { return value_->is_string(); }
  [[nodiscard]] bool is_object() const { return value_->is_object(); }

  // Refuses keys that are not in `known`, naming the nearest of them.
  void only(std::span<const std::string_view> known) const;

  // nullopt where the key is missing or null.
  [[nodiscard]] std::optional<json_place> get(std::string_view key) const;
  [[nodiscard]] json_place need(std::string_view key) const;
  [[nodiscard]] std::vector<json_place> items() const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double real() const;
  // An integer, or a text "0x...", within the range.
  [[nodiscard]] std::uint64_t integer(std::uint64_t least = 0, std::uint64_t most = UINT64_MAX) const;

  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback) const;
  [[nodiscard]] std::uint64_t integer_or(std::string_view key, std::uint64_t fallback, std::uint64_t least = 0,
                                         std::uint64_t most = UINT64_MAX) const;

  // Position of the text in `names`; refuses anything else with the nearest of them.
  [[nodiscard]] std::size_t one_of(std::span<const std::string_view> names, std::string_view what) const;

  [[nodiscard]] request_error error(const std::string& problem) const { return {path_, problem}; }
  // For a name that does not exist: "no function is called 'x'; the nearest right name is 'y'".
  [[nodiscard]] request_error unknown(std::string_view what, std::span<const std::string_view> candidates) const;

 private:
  [[nodiscard]] request_error expected(std::string_view what) const;

  const nlohmann::json* value_;
  std::string path_;
};

// Throws request_error for text that is not JSON or not an object.
[[nodiscard]] nlohmann::json parse_request(std::string_view json_text);

}  // namespace cufault::judge

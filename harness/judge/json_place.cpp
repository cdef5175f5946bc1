// SPDX-License-Identifier: Apache-2.0
// A value in a JSON request together with its path.
#include "json_place.h"

#include <charconv>

#include "nearest.h"

namespace cufault::judge {

namespace {

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

request_error json_place::expected(std::string_view what) const {
  return {path_, "expected " + std::string(what) + ", read " + shown(*value_), shown(*value_)};
}

void json_place::only(std::span<const std::string_view> known) const {
  if (!value_->is_object()) throw expected("an object");
  for (const auto& [key, unused] : value_->items()) {
    static_cast<void>(unused);
    bool found = false;
    for (const std::string_view name : known) found = found || name == key;
    if (!found) {
      throw request_error(path_.empty() ? key : path_ + "." + key, "no key is called '" + key + "' here", key,
                          std::string(nearest_name(key, known)));
    }
  }
}

std::optional<json_place> json_place::get(std::string_view key) const {
  if (!value_->is_object()) throw expected("an object");
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return json_place(*found, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

json_place json_place::need(std::string_view key) const {
  std::optional<json_place> found = get(key);
  if (!found) throw request_error(path_, "'" + std::string(key) + "' is missing", std::string(key));
  return *found;
}

std::vector<json_place> json_place::items() const {
  if (!value_->is_array()) throw expected("a list");
  std::vector<json_place> found;
  std::size_t index = 0;
  for (const nlohmann::json& item : *value_) {
    found.emplace_back(item, path_ + "[" + std::to_string(index) + "]");
    ++index;
  }
  return found;
}

std::string json_place::text() const {
  if (!value_->is_string()) throw expected("a text");
  return value_->get<std::string>();
}

bool json_place::boolean() const {
  if (!value_->is_boolean()) throw expected("true or false");
  return value_->get<bool>();
}

double json_place::real() const {
  if (!value_->is_number()) throw expected("a number");
  return value_->get<double>();
}

std::uint64_t json_place::integer(std::uint64_t least, std::uint64_t most) const {
  std::uint64_t number = 0;
  if (value_->is_number_unsigned()) {
    number = value_->get<std::uint64_t>();
  } else if (value_->is_string()) {
    const std::string written = value_->get<std::string>();
    const bool hexadecimal = written.starts_with("0x");
    const char* first = written.data() + (hexadecimal ? 2 : 0);
    const char* last = written.data() + written.size();
    const auto [end, status] = std::from_chars(first, last, number, hexadecimal ? 16 : 10);
    if (status != std::errc{} || end != last || first == last) throw expected("a whole number");
  } else {
    throw expected("a whole number that is not negative");
  }
  if (number < least || number > most) {
    throw expected("a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::string json_place::text_or(std::string_view key, std::string fallback) const {
  const std::optional<json_place> found = get(key);
  return found ? found->text() : std::move(fallback);
}

bool json_place::boolean_or(std::string_view key, bool fallback) const {
  const std::optional<json_place> found = get(key);
  return found ? found->boolean() : fallback;
}

std::uint64_t json_place::integer_or(std::string_view key, std::uint64_t fallback, std::uint64_t least,
                                     std::uint64_t most) const {
  const std::optional<json_place> found = get(key);
  return found ? found->integer(least, most) : fallback;
}

std::size_t json_place::one_of(std::span<const std::string_view> names, std::string_view what) const {
  const std::string wanted = text();
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == wanted) return index;
  }
  throw unknown(what, names);
}

request_error json_place::unknown(std::string_view what, std::span<const std::string_view> candidates) const {
  const std::string wanted = text();
  return {path_, "no " + std::string(what) + " is called '" + wanted + "'", wanted,
          std::string(nearest_name(wanted, candidates))};
}

nlohmann::json parse_request(std::string_view json_text) {
  try {
    nlohmann::json value = nlohmann::json::parse(json_text);
    if (!value.is_object()) throw request_error("", "the request is not a JSON object");
    return value;
  } catch (const nlohmann::json::exception& problem) {
    throw request_error("", std::string("the request is not JSON: ") + problem.what());
  }
}

}  // namespace cufault::judge

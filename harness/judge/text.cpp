// SPDX-License-Identifier: Apache-2.0
// Texts: how calls are written, and what a text that a library showed speaks of.
#include "text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "api.h"

namespace cufault::judge {

namespace {

bool word_letter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

// Calls `found` with every place of `part` in `text` until it answers true.
template <typename Found>
bool any_place(std::string_view text, std::string_view part, Found found) {
  if (part.empty()) return false;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    if (found(at)) return true;
  }
  return false;
}

// Calls `found` with every word of the text and the word before it, until it answers true.
template <typename Found>
bool any_word(std::string_view text, Found found) {
  std::string_view before;
  for (std::size_t at = 0; at < text.size();) {
    if (!word_letter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && word_letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (found(before, word)) return true;
    before = word;
    at = end;
  }
  return false;
}

bool is_number(std::string_view word, std::uint64_t value) {
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [stop, status] = std::from_chars(word.data(), word.data() + word.size(), number, hexadecimal ? 16 : 10);
  return !word.empty() && status == std::errc{} && stop == word.data() + word.size() && number == value;
}

std::string result_of(const event& call) {
  if (call.open) return "never returned";
  return api::result_text(call.given);
}

std::string arguments_of(const event& call) {
  std::string text;
  const std::size_t known = call.entry == nullptr ? 0 : call.entry->params.size();
  for (std::size_t index = 0; index < std::min<std::size_t>(call.argc, CUFAULT_TRACE_ARGS); ++index) {
    if (index != 0) text += ", ";
    if (index < known) text += std::string(call.entry->params[index]) + "=";
    const std::uint64_t value = call.args[index];
    text += value < 4096 ? std::to_string(value) : hex(value);
  }
  if (call.argc > CUFAULT_TRACE_ARGS) text += ", ...";
  return text;
}

}  // namespace

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto [end, status] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  static_cast<void>(status);
  return "0x" + std::string(digits.data(), end);
}

std::string render(const event& call, const trace& source) {
  std::string text = call.name + "(" + arguments_of(call) + ") -> " + result_of(call);
  if (call.has(CUFAULT_CALL_INJECTED)) {
    const process* owner = source.find_process(call.pid);
    text += " (injected";
    if (owner != nullptr && call.rule >= 1 && call.rule <= owner->rules.size()) {
      text += " by " + owner->rules[call.rule - 1];
    }
    if (call.real != CUFAULT_NOT_FORWARDED) text += "; the driver did it and answered " + api::result_text(call.real);
    text += ")";
  } else if (call.has(CUFAULT_CALL_FAULT_STATE)) {
    text += " (answered by an earlier fault)";
  }
  return text;
}

bool has_word(std::string_view text, std::string_view word) {
  return any_place(text, word, [&](std::size_t at) {
    const std::size_t after = at + word.size();
    return (at == 0 || !word_letter(text[at - 1])) && (after == text.size() || !word_letter(text[after]));
  });
}

bool names_function(std::string_view text, std::string_view function) {
  return any_place(text, function, [&](std::size_t at) {
    if (at != 0 && word_letter(text[at - 1])) return false;
    std::size_t end = at + function.size();
    while (end < text.size() && word_letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word == function) return true;
    const api::symbol* entry = api::find_symbol(word);
    return entry != nullptr && entry->function == function;
  });
}

std::vector<const api::symbol*> functions_named_in(std::string_view text) {
  std::vector<const api::symbol*> found;
  any_word(text, [&found](std::string_view, std::string_view word) {
    if (!word.starts_with("cu")) return false;
    if (const api::symbol* entry = api::find_symbol(word); entry != nullptr) found.push_back(entry);
    return false;
  });
  return found;
}

bool has_number(std::string_view text, std::uint64_t value) {
  return any_word(text, [value](std::string_view, std::string_view word) { return is_number(word, value); });
}

bool has_error_number(std::string_view text, std::uint64_t value) {
  return any_word(text, [value](std::string_view before, std::string_view word) {
    if (!is_number(word, value)) return false;
    constexpr std::array<std::string_view, 7> heads = {"error", "code", "status", "result", "curesult", "err", "rc"};
    return std::any_of(heads.begin(), heads.end(), [before](std::string_view head) {
      return before.size() == head.size() && contains_ignoring_case(before, head);
    });
  });
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) == std::tolower(static_cast<unsigned char>(right));
  };
  return !part.empty() && std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, most - 3)) + "...";
}

}  // namespace cufault::judge

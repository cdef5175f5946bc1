/* SPDX-License-Identifier: Apache-2.0 */
/* Text put together in a buffer of fixed size: the shim formats without allocating and without the locale. */
#ifndef CUFAULT_PROCESS_TEXT_H
#define CUFAULT_PROCESS_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cufault::process {

/* What does not fit is cut, and the text then ends in "...". Always NUL-terminated. */
template <std::size_t Size>
class text {
  static_assert(Size > 4);

 public:
  text &operator<<(std::string_view more) noexcept {
    for (const char letter : more) put(letter);
    return *this;
  }
  text &operator<<(const char *more) noexcept {
    return *this << (more == nullptr ? std::string_view("(null)") : std::string_view(more));
  }
  text &operator<<(std::uint64_t number) noexcept {
    char digits[20];
    std::size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count != 0) put(digits[--count]);
    return *this;
  }
  text &operator<<(std::uint32_t number) noexcept { return *this << std::uint64_t{number}; }
  text &operator<<(int number) noexcept {
    if (number < 0) put('-');
    const auto wide = static_cast<std::int64_t>(number);
    return *this << static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
  }
  text &hex(std::uint64_t number) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    *this << "0x";
    bool leading = true;
    for (int shift = 60; shift >= 0; shift -= 4) {
      const auto digit = static_cast<std::size_t>(number >> shift & 15);
      leading = leading && digit == 0 && shift != 0;
      if (!leading) put(digits[digit]);
    }
    return *this;
  }

  [[nodiscard]] const char *c_str() const noexcept { return letters_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool cut() const noexcept { return cut_; }
  [[nodiscard]] std::string_view view() const noexcept { return {letters_, size_}; }
  void clear() noexcept {
    size_ = 0;
    cut_ = false;
    letters_[0] = '\0';
  }

 private:
  void put(char letter) noexcept {
    if (size_ + 1 < Size) {
      letters_[size_++] = letter;
      letters_[size_] = '\0';
    } else if (!cut_) {
      cut_ = true;
      for (std::size_t i = 0; i < 3; ++i) letters_[Size - 4 + i] = '.';
    }
  }

  char letters_[Size] = {};
  std::size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace cufault::process

#endif

// SPDX-License-Identifier: Apache-2.0
// The wrapper: a mark that no other image begins with, the size, the count, then each text with its length.
#include "module/linked.h"

#include <cstdint>
#include <cstring>

namespace cufault::sim {

namespace {

constexpr char kMark[8] = {'\x7f', 'C', 'U', 'F', 'L', 'N', 'K', '1'};

struct Header {
  char mark[8];
  std::uint64_t size;
  std::uint64_t count;
};

}  // namespace

std::string make_linked(const std::vector<std::string>& texts) {
  std::string made(sizeof(Header), '\0');
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    made.append(reinterpret_cast<const char*>(&length), sizeof length);
    made.append(text);
  }
  Header header{};
  std::memcpy(header.mark, kMark, sizeof kMark);
  header.size = made.size();
  header.count = texts.size();
  std::memcpy(made.data(), &header, sizeof header);
  return made;
}

bool is_linked(const void* bytes) noexcept { return std::memcmp(bytes, kMark, 1) == 0 && std::strncmp(static_cast<const char*>(bytes), kMark, sizeof kMark) == 0; }

std::size_t linked_size(const void* bytes) noexcept {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  return header.size;
}

std::vector<std::string> linked_texts(const void* bytes) {
  std::vector<std::string> texts;
  if (!is_linked(bytes)) return texts;
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  const char* at = static_cast<const char*>(bytes) + sizeof header;
  for (std::uint64_t i = 0; i < header.count; ++i) {
    std::uint64_t length = 0;
    std::memcpy(&length, at, sizeof length);
    texts.emplace_back(at + sizeof length, length);
    at += sizeof length + length;
  }
  return texts;
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Bytes as /etc/ld.so.cache.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "interpose/loader_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::unique_ptr<char[]> exact(new char[size]);
  std::memcpy(exact.get(), data, size);
  static volatile std::size_t sink;
  cufault::interpose::loader_cache(exact.get(), size).find("libcuda.so.1", [](std::string_view file) {
    for (const char letter : file) sink = sink + static_cast<unsigned char>(letter);
    return false;
  });
  return 0;
}

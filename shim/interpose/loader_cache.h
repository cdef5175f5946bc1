/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /etc/ld.so.cache, the list of libraries that ldconfig keeps for the loader. */
#ifndef CUFAULT_INTERPOSE_LOADER_CACHE_H
#define CUFAULT_INTERPOSE_LOADER_CACHE_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace cufault::interpose {

/*
 * The format since glibc 2.2, alone or after the older one: a head, entries of 24 bytes, strings counted from the head.
 * Anything else is read as empty: then the driver must stand in a folder that is searched by name.
 */
class loader_cache {
 public:
  loader_cache(const char *bytes, std::size_t size) noexcept {
    for (std::size_t at = 0; at + head_size <= size; at += 8) {
      if (std::memcmp(bytes + at, magic.data(), magic.size()) == 0) {
        bytes_ = bytes + at;
        size_ = size - at;
        count_ = number(20);
        if (count_ > (size_ - head_size) / entry_size) count_ = 0;
        return;
      }
    }
  }

  /* Calls `visit(file)` for every 64-bit library of that SONAME, in the cache's order, until it answers true. */
  template <class Visit>
  bool find(std::string_view soname, Visit visit) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::size_t at = head_size + i * entry_size;
      if (number(at) != wanted_flags || string(number(at + 4)) != soname) continue;
      if (visit(string(number(at + 8)))) return true;
    }
    return false;
  }

 private:
  static constexpr std::string_view magic = "glibc-ld.so.cache1.1";
  static constexpr std::size_t head_size = 48;
  static constexpr std::size_t entry_size = 24;
#if defined(__x86_64__)
  static constexpr std::uint32_t wanted_flags = 0x0303; /* FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 */
#elif defined(__aarch64__)
  static constexpr std::uint32_t wanted_flags = 0x0a03; /* FLAG_AARCH64_LIB64 | FLAG_ELF_LIBC6 */
#else
#error "which flags has a library of this machine in ld.so.cache? See glibc's sysdeps/generic/ldconfig.h"
#endif

  [[nodiscard]] std::uint32_t number(std::size_t at) const noexcept {
    std::uint32_t read = 0;
    std::memcpy(&read, bytes_ + at, sizeof read);
    return read;
  }
  [[nodiscard]] std::string_view string(std::uint32_t at) const noexcept {
    if (at >= size_) return {};
    const void *const end = std::memchr(bytes_ + at, '\0', size_ - at);
    if (end == nullptr) return {};
    return {bytes_ + at, static_cast<std::size_t>(static_cast<const char *>(end) - (bytes_ + at))};
  }

  const char *bytes_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t count_ = 0;
};

template <class Visit>
bool in_loader_cache(std::string_view soname, Visit visit) noexcept {
  const int file = ::open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const off_t size = ::lseek(file, 0, SEEK_END);
  void *const bytes = size > 0 ? ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
  if (bytes == MAP_FAILED) return false;
  const bool found = loader_cache(static_cast<const char *>(bytes), static_cast<std::size_t>(size)).find(soname, visit);
  ::munmap(bytes, static_cast<std::size_t>(size));
  return found;
}

}  // namespace cufault::interpose

#endif

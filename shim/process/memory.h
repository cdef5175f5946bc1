/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the shim's own, straight from the kernel: malloc belongs to the program under test. */
#ifndef CUFAULT_PROCESS_MEMORY_H
#define CUFAULT_PROCESS_MEMORY_H

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cufault::process {

constexpr std::size_t page_size = 4096;

constexpr std::size_t whole_pages(std::size_t size) noexcept { return (size + page_size - 1) / page_size * page_size; }

/* Zeroed, never given back by anybody else; nullptr if the kernel has none. */
inline void *map_pages(std::size_t size) noexcept {
  void *const at = ::mmap(nullptr, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

inline void unmap_pages(void *at, std::size_t size) noexcept { ::munmap(at, whole_pages(size)); }

/* `count` zeroed objects whose all-zero bytes are a valid state. */
template <class T>
T *map_array(std::size_t count) noexcept {
  static_assert(std::is_trivially_destructible_v<T>);
  if (count > SIZE_MAX / 2 / sizeof(T)) return nullptr;
  return static_cast<T *>(map_pages(count == 0 ? 1 : count * sizeof(T)));
}

}  // namespace cufault::process

#endif

// SPDX-License-Identifier: Apache-2.0
// An operator new that never calls malloc, as allocators that replace the C++ library's have it.
#include <cstddef>
#include <cstdio>
#include <new>

namespace {

alignas(64) char arena[1 << 22];
std::size_t used = 0;
int given_back = 0;

void* take(std::size_t size) {
  if (used + size > sizeof arena) return nullptr;
  void* const at = arena + used;
  used += (size + 63) / 64 * 64;
  return at;
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = take(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void operator delete(void* memory) noexcept { given_back += memory != nullptr ? 1 : 0; }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

extern "C" int victim_given_back(void) { return given_back; }

// SPDX-License-Identifier: Apache-2.0
// A compiler may leave out a pair of new and delete, and jump into malloc or close at the end of a function, which then
// return to somebody else's module; keep() prevents both here.
#include "victim_module.h"

#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

template <class T>
T keep(T value) {
  __asm__ volatile("" : "+r"(value) : : "memory");
  return value;
}

int live_objects = 0;

int driver_create() { return ++live_objects; }
void driver_destroy(int) { --live_objects; }

struct owner {
  explicit owner(int made) : object(made) {}
  ~owner() { driver_destroy(object); }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  int object;
};

int answer(void* memory) {
  const int error = memory == nullptr ? errno : 0;
  std::free(memory);
  return error;
}

// Of this file alone, so that no other module's copy of std::vector<element> is called instead of ours.
struct element {
  int number;
};

struct alignas(64) aligned {
  char bytes[64];
};

template <class Allocate>
int catching(Allocate allocate) {
  try {
    allocate();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int by_malloc(size_t size) { return answer(std::malloc(size)); }
int by_calloc(size_t size) { return answer(std::calloc(1, size)); }
int by_realloc(size_t size) { return answer(std::realloc(nullptr, size)); }
int by_reallocarray(size_t size) { return answer(::reallocarray(nullptr, 1, size)); }
int by_memalign(size_t size) { return answer(::memalign(64, size)); }
int by_aligned_alloc(size_t size) { return answer(::aligned_alloc(64, size)); }
int by_valloc(size_t size) { return answer(::valloc(size)); }
int by_pvalloc(size_t size) { return answer(::pvalloc(size)); }
int by_posix_memalign(size_t size) {
  void* memory = nullptr;
  errno = 0;
  const int error = ::posix_memalign(&memory, 64, size);
  std::free(memory);
  return errno != 0 ? -1 : error;
}
int by_new(size_t size) {
  return catching([=] { ::operator delete(keep(::operator new(size))); });
}
int by_new_array(size_t size) {
  return catching([=] { ::operator delete[](keep(::operator new[](size))); });
}
int by_new_aligned(size_t) {
  return catching([] { delete keep(new aligned); });
}
int by_new_array_aligned(size_t) {
  return catching([] { delete[] keep(new aligned[2]); });
}
int by_new_nothrow(size_t size) {
  void* const memory = keep(::operator new(size, std::nothrow));
  ::operator delete(memory);
  return memory == nullptr ? ENOMEM : 0;
}
int by_new_array_nothrow(size_t size) {
  void* const memory = keep(::operator new[](size, std::nothrow));
  ::operator delete[](memory);
  return memory == nullptr ? ENOMEM : 0;
}
int by_new_aligned_nothrow(size_t) {
  aligned* const memory = keep(new (std::nothrow) aligned);
  delete memory;
  return memory == nullptr ? ENOMEM : 0;
}
int by_new_array_aligned_nothrow(size_t) {
  aligned* const memory = keep(new (std::nothrow) aligned[2]);
  delete[] memory;
  return memory == nullptr ? ENOMEM : 0;
}

}  // namespace

extern "C" {

const victim_way victim_ways[] = {
    {"malloc", by_malloc},
    {"calloc", by_calloc},
    {"realloc", by_realloc},
    {"reallocarray", by_reallocarray},
    {"memalign", by_memalign},
    {"aligned_alloc", by_aligned_alloc},
    {"posix_memalign", by_posix_memalign},
    {"valloc", by_valloc},
    {"pvalloc", by_pvalloc},
    {"new", by_new},
    {"new[]", by_new_array},
    {"new aligned", by_new_aligned},
    {"new[] aligned", by_new_array_aligned},
    {"new nothrow", by_new_nothrow},
    {"new[] nothrow", by_new_array_nothrow},
    {"new aligned nothrow", by_new_aligned_nothrow},
    {"new[] aligned nothrow", by_new_array_aligned_nothrow},
};
const size_t victim_way_count = sizeof victim_ways / sizeof *victim_ways;

int victim_make_careless(void) {
  const int object = driver_create();
  return catching([=] { delete keep(new owner(object)); }) == 0 ? 0 : -1;
}

int victim_make_careful(void) {
  const int object = driver_create();
  if (catching([=] { delete keep(new owner(object)); }) == 0) return 0;
  driver_destroy(object);
  return -1;
}

int victim_live_objects(void) { return live_objects; }

int victim_grow_vector(int wanted) {
  std::vector<element> numbers;
  catching([&] {
    while (static_cast<int>(numbers.size()) < wanted) numbers.push_back({static_cast<int>(numbers.size())});
  });
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].number != static_cast<int>(i)) return -1;
  }
  return static_cast<int>(numbers.size());
}

int victim_share(void) {
  int count = -1;
  catching([&] {
    const auto first = std::make_shared<owner>(driver_create());
    const auto second = first;
    count = static_cast<int>(second.use_count());
  });
  return count;
}

int victim_malloc(size_t size) { return by_malloc(size); }

int victim_regrow(void) {
  char* const block = static_cast<char*>(std::malloc(64));
  std::memset(block, 'x', 64);
  char* const grown = static_cast<char*>(std::realloc(block, 4096));
  const bool kept = grown == nullptr && errno == ENOMEM && block[0] == 'x' && block[63] == 'x';
  std::free(grown == nullptr ? block : grown);
  return kept ? 1 : 0;
}

int victim_close(int descriptor) { return keep(::close(descriptor)); }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The dice, and what a sequence keeps.
#include "sequence/world.h"

namespace probe::sequence {

Dice::Dice(unsigned seed) : state_(0x9E3779B97F4A7C15ull * seed + 12345) {
  for (int i = 0; i < 20; i++) roll(2);
}

unsigned Dice::roll(unsigned sides) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<unsigned>((state_ >> 11) % sides);
}

void World::drop_all_of(int context) {
  const auto drop_from = [context](auto& pool) {
    std::erase_if(pool, [context](const auto& one) { return one.context == context; });
  };
  drop_from(streams);
  drop_from(events);
  drop_from(plain_memory);
  drop_from(async_memory);
  drop_from(host_memory);
  drop_from(modules);
  drop_from(execs);
}

std::size_t World::size_of(int id) const {
  const auto found = sizes_.find(id);
  return found != sizes_.end() ? found->second : 0;
}

int World::current() const {
  CUcontext c = nullptr;
  if (cuCtxGetCurrent(&c) != CUDA_SUCCESS) return -1;
  return c == nullptr ? 0 : id_of(c);
}

int World::id_of(CUcontext handle) const {
  for (const auto& one : contexts) {
    if (one.handle == handle) return one.id;
  }
  return -2;
}

bool row(const std::string& label, CUresult result, const std::string& extra) {
  STEP(label, name_of(result) + extra);
  return result == CUDA_SUCCESS;
}

std::string name(const char* kind, int id) { return id != 0 ? kind + std::to_string(id) : "null"; }

}  // namespace probe::sequence

// SPDX-License-Identifier: Apache-2.0
// The map of known addresses.
#include "memory/address_space.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "context/context.h"
#include "core/driver.h"
#include "core/refusal.h"
#include "device/device.h"
#include "memory/arena.h"

namespace cufault::sim {

namespace {

constexpr std::size_t kAlignment = 512;           // recorded: 256 at least, pools 512
constexpr std::size_t kMapFrom = std::size_t{1} << 16;  // from here on memory comes straight from the kernel, unbacked until touched

}  // namespace

Backing::~Backing() {
  if (arena != nullptr)
    arena->release(where, size);
  else if (mapped)
    munmap(where, size);
  else
    std::free(where);
}

std::shared_ptr<Backing> make_backing(std::size_t size, const std::shared_ptr<Arena>& arena) {
  void* where = arena == nullptr ? nullptr : arena->allocate(size);
  if (where == nullptr) return make_backing(size);
  auto backing = std::make_shared<Backing>();
  backing->where = where;
  backing->size = size;
  backing->arena = arena;
  return backing;
}

std::shared_ptr<Backing> make_backing(std::size_t size) {
  auto backing = std::make_shared<Backing>();
  if (size >= kMapFrom) {
    void* where = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(where != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    backing->where = where;
    backing->size = size;
    backing->mapped = true;
  } else {
    const std::size_t rounded = size == 0 ? kAlignment : (size + kAlignment - 1) / kAlignment * kAlignment;
    backing->where = std::aligned_alloc(kAlignment, rounded);
    require(backing->where != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    backing->size = rounded;
    std::memset(backing->where, 0, rounded);
  }
  return backing;
}

Allocation::~Allocation() {
  if (device != nullptr) device->used_memory -= charged;
  if (slot != nullptr) slot->id = 0;
}

std::shared_ptr<Allocation> AddressSpace::make(Device& device, const std::shared_ptr<Context>& context, std::size_t size,
                                               MemoryKind kind) {
  require(size <= device.profile.total_memory - device.used_memory, CUDA_ERROR_OUT_OF_MEMORY);
  auto allocation = kind == MemoryKind::device ? make_on(Arena::of_process(), size, kind) : make_host(size, kind);
  allocation->device = &device;
  allocation->charged = size;
  device.used_memory += size;
  allocation->context = context;
  if (context != nullptr) allocation->life = context->life;
  return allocation;
}

std::shared_ptr<Allocation> AddressSpace::make_host(std::size_t size, MemoryKind kind) { return make_on(nullptr, size, kind); }

std::shared_ptr<Allocation> AddressSpace::make_on(const std::shared_ptr<Arena>& arena, std::size_t size, MemoryKind kind) {
  auto backing = make_backing(size, arena);
  auto allocation = std::make_shared<Allocation>(reinterpret_cast<CUdeviceptr>(backing->where), size, kind);
  allocation->backing = std::move(backing);
  return allocation;
}

void AddressSpace::add(std::shared_ptr<Allocation> allocation) {
  allocation->id = Driver::get().next_id();
  ranges_[allocation->base] = std::move(allocation);
}

std::shared_ptr<Allocation> AddressSpace::remove(CUdeviceptr base) {
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) return nullptr;
  auto allocation = std::move(found->second);
  ranges_.erase(found);
  return allocation;
}

std::shared_ptr<Allocation> AddressSpace::find(CUdeviceptr address) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const auto& allocation = std::prev(after)->second;
  return address - allocation->base < allocation->size ? allocation : nullptr;
}

std::shared_ptr<Allocation> AddressSpace::at(CUdeviceptr base) const {
  const auto found = ranges_.find(base);
  return found == ranges_.end() ? nullptr : found->second;
}

bool AddressSpace::overlaps(CUdeviceptr base, std::size_t size) const {
  auto after = ranges_.lower_bound(base + size);
  if (after == ranges_.begin()) return false;
  const Allocation& before = *std::prev(after)->second;
  return before.base + before.size > base;
}

void AddressSpace::drop_of(const Context& context) {
  std::erase_if(ranges_, [&](const auto& entry) {
    const Allocation& allocation = *entry.second;
    return allocation.context.get() == &context && allocation.kind != MemoryKind::mapped;
  });
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// How pools count: used by exact bytes, reserved in steps of 32 MiB (recorded: pool_usage_*).
#include "memory/pool.h"

#include <algorithm>

#include "context/context.h"
#include "core/driver.h"
#include "core/refusal.h"
#include "device/device.h"
#include "memory/arena.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

constexpr std::uint64_t kStep = 32u << 20;
constexpr std::size_t kGrain = 512;

std::uint64_t steps(std::uint64_t bytes) { return bytes > UINT64_MAX - kStep ? bytes : (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

std::shared_ptr<Pool> Pool::make(Device& device, const CUmemPoolProps& props) {
  auto pool = std::make_shared<Pool>(device, props);
  pool->self = Driver::get().handles->insert(Kind::pool, pool);
  device.pools.push_back(pool);
  if ((props.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) pool->arena = Arena::make(&props);
  return pool;
}

std::shared_ptr<Pool> Pool::default_of(Device& device) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = device.ordinal;
  auto pool = make(device, props);
  pool->is_default = true;
  return pool;
}

std::shared_ptr<Allocation> Pool::allocate(Driver& driver, std::size_t size, const std::shared_ptr<Stream>& stream) {
  const std::size_t room = (size + kGrain - 1) / kGrain * kGrain;
  std::shared_ptr<Backing> backing;
  const auto [first, last] = free_.equal_range(room);
  for (auto it = first; it != last && backing == nullptr; ++it)
    if (it->second.point.stream == stream || it->second.point.reached()) {
      backing = std::move(it->second.backing);
      free_.erase(it);
      break;
    }
  const std::uint64_t wanted = steps(used + size);
  if (wanted > reserved && !host()) {
    const std::uint64_t left = device.profile.total_memory - device.used_memory;
    require(wanted - reserved <= left, CUDA_ERROR_OUT_OF_MEMORY);
    device.used_memory += wanted - reserved;
  }
  if (backing == nullptr) backing = make_backing(room, arena);
  auto allocation = std::make_shared<Allocation>(reinterpret_cast<CUdeviceptr>(backing->where), size, MemoryKind::pool);
  allocation->backing = std::move(backing);
  allocation->pool = shared_from_this();
  reserved = std::max(reserved, wanted);
  reserved_high = std::max(reserved_high, reserved);
  used += size;
  used_high = std::max(used_high, used);
  driver.memory.add(allocation);
  return allocation;
}

void Pool::give_back(const std::shared_ptr<Allocation>& allocation, const Point& point) {
  if (allocation->backing == nullptr) return;  // of another process
  free_.emplace(allocation->backing->size, Free{allocation->backing, point});
}

void Pool::trim(std::uint64_t keep) {
  const std::uint64_t left = std::min(reserved, std::max(steps(used), steps(keep)));
  if (left == reserved) return;
  if (!host()) device.used_memory -= reserved - left;
  reserved = left;
  std::erase_if(free_, [](const auto& entry) { return entry.second.point.reached(); });
}

void trim_pools(Device& device) {
  std::erase_if(device.pools, [](const auto& pool) { return pool.expired(); });
  for (const auto& weak : device.pools)
    if (const auto pool = weak.lock()) pool->trim(pool->threshold);
}

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Memory pools and stream-ordered allocation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/api.h"
#include "core/handles.h"
#include "memory/address_space.h"
#include "stream/engine.h"

namespace cufault::sim {

class Arena;
class Driver;
struct Device;

struct Pool : Object, std::enable_shared_from_this<Pool> {
  static constexpr Kind kKind = Kind::pool;

  Pool(Device& on, const CUmemPoolProps& wanted) : device(on), props(wanted) {}
  [[nodiscard]] static std::shared_ptr<Pool> default_of(Device& device);
  [[nodiscard]] static std::shared_ptr<Pool> make(Device& device, const CUmemPoolProps& props);

  // Memory for use in `stream` from its next work on. Refuses with OUT_OF_MEMORY.
  [[nodiscard]] std::shared_ptr<Allocation> allocate(Driver& driver, std::size_t size, const std::shared_ptr<Stream>& stream);
  // Takes memory back once everything up to `point` has completed; the same stream may reuse it at once.
  void give_back(const std::shared_ptr<Allocation>& allocation, const Point& point);
  // Called in order of the stream when the freed memory is no longer in use.
  void settle(std::size_t size) { used -= size; }
  // Returns memory that is not in use to the device, down to `keep` bytes.
  void trim(std::uint64_t keep);

  [[nodiscard]] CUmemoryPool handle() const noexcept { return static_cast<CUmemoryPool>(self); }
  [[nodiscard]] bool host() const noexcept { return props.location.type != CU_MEM_LOCATION_TYPE_DEVICE; }

  Device& device;
  const CUmemPoolProps props;
  void* self = nullptr;
  bool is_default = false;
  bool imported = false;
  std::shared_ptr<Arena> arena;  // of a pool that can be shared
  int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  std::map<int, CUmemAccess_flags> access;  // of devices other than the owner

 private:
  struct Free {
    std::shared_ptr<Backing> backing;
    Point point;
  };
  std::multimap<std::size_t, Free> free_;
};

// What a synchronisation does to the pools of a device: memory over the threshold goes back.
void trim_pools(Device& device);

}  // namespace cufault::sim

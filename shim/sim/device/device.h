// SPDX-License-Identifier: Apache-2.0
// A simulated device: attributes from a recorded profile, its primary context and its default memory pool.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

struct Context;
struct Pool;

// Generated from profiles/*.yaml.
struct DeviceProfile {
  const char* name;
  std::uint64_t total_memory;
  // Indexed by CUdevice_attribute; kNoAttribute where the recorded driver answered INVALID_VALUE.
  static constexpr int kNoAttribute = -0x7fffffff;
  std::array<int, 256> attributes;
};
[[nodiscard]] const DeviceProfile& recorded_profile() noexcept;

struct Device {
  explicit Device(CUdevice number);
  ~Device();

  [[nodiscard]] int attribute(CUdevice_attribute which) const { return profile.attributes[static_cast<unsigned>(which)]; }

  const CUdevice ordinal;
  const DeviceProfile& profile;
  CUuuid uuid{};
  std::string bus_id;

  std::shared_ptr<Context> primary;
  unsigned primary_flags = 0;
  unsigned retains = 0;
  unsigned greens = 0;  // live green contexts keep the primary context

  std::shared_ptr<Pool> default_pool;
  std::shared_ptr<Pool> current_pool;
  std::vector<std::weak_ptr<Pool>> pools;
  std::uint64_t used_memory = 0;
  std::uint64_t graph_used = 0, graph_used_high = 0, graph_reserved = 0, graph_reserved_high = 0;
};

}  // namespace cufault::sim

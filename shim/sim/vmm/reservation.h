// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reserved addresses and physical memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "core/api.h"
#include "core/handles.h"

namespace cufault::sim {

struct Device;

inline constexpr std::size_t kGranularity = std::size_t{2} << 20;  // recorded: minimum and recommended

// Physical memory: a file in memory, so that it can be mapped twice and sent to another process.
struct VmmAllocation : Object {
  static constexpr Kind kKind = Kind::vmm_allocation;

  ~VmmAllocation() override;

  int fd = -1;
  std::size_t size = 0;
  CUmemAllocationProp props{};
  Device* device = nullptr;  // where it is counted; null: imported
};

// Reserved ranges, given out from one large range as the recorded driver does. Guarded by the driver's lock.
class Reservations {
 public:
  // Refuses with OUT_OF_MEMORY.
  [[nodiscard]] CUdeviceptr reserve(std::size_t size, std::size_t alignment, CUdeviceptr hint);
  // False unless exactly this range was reserved at once.
  [[nodiscard]] bool release(CUdeviceptr base, std::size_t size);
  // The reservation that an address lies in: its base and size; size 0 if there is none.
  [[nodiscard]] std::pair<CUdeviceptr, std::size_t> find(CUdeviceptr address) const;
  // Whether a range lies in what reservations come from.
  [[nodiscard]] bool holds(CUdeviceptr base, std::size_t size) const;

 private:
  CUdeviceptr arena_ = 0;
  std::size_t arena_size_ = 0;
  std::map<CUdeviceptr, std::size_t> taken_;
};

[[nodiscard]] Reservations& reservations() noexcept;

// A file in memory for `size` bytes, which carries its properties behind them. Refuses with OUT_OF_MEMORY.
[[nodiscard]] int make_memory_file(std::size_t size, const CUmemAllocationProp& props);
// What such a file carries; false for any other file.
[[nodiscard]] bool read_memory_file(int fd, std::size_t& size, CUmemAllocationProp& props);

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Address ranges and memory files.
#include "vmm/reservation.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/refusal.h"
#include "device/device.h"

namespace cufault::sim {

namespace {

constexpr std::size_t kLargestArena = std::size_t{16} << 40;
constexpr std::size_t kSmallestArena = std::size_t{1} << 32;

struct Trailer {
  char mark[8];
  std::uint64_t size;
  CUmemAllocationProp props;
};
constexpr char kMark[8] = {'C', 'U', 'F', 'A', 'U', 'L', 'T', 'M'};

}  // namespace

VmmAllocation::~VmmAllocation() {
  if (fd >= 0) close(fd);
  if (device != nullptr) device->used_memory -= size;
}

Reservations& reservations() noexcept {
  static auto& all = *new Reservations;
  return all;
}

CUdeviceptr Reservations::reserve(std::size_t size, std::size_t alignment, CUdeviceptr hint) {
  for (std::size_t wanted = kLargestArena; arena_ == 0 && wanted >= kSmallestArena; wanted /= 2) {
    void* range = mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    arena_ = (reinterpret_cast<CUdeviceptr>(range) + kGranularity - 1) / kGranularity * kGranularity;
    arena_size_ = wanted - kGranularity;
  }
  require(arena_ != 0 && size <= arena_size_, CUDA_ERROR_OUT_OF_MEMORY);
  const auto free_at = [&](CUdeviceptr base) {
    if (!holds(base, size)) return false;
    const auto after = taken_.lower_bound(base + size);
    return after == taken_.begin() || std::prev(after)->first + std::prev(after)->second <= base;
  };
  CUdeviceptr base = arena_;
  if (hint != 0 && hint % kGranularity == 0 && free_at(hint)) {
    base = hint;
  } else {
    base = (base + alignment - 1) / alignment * alignment;
    for (const auto& [start, length] : taken_) {
      if (base + size <= start) break;
      base = std::max(base, start + length);
      base = (base + alignment - 1) / alignment * alignment;
    }
  }
  require(holds(base, size), CUDA_ERROR_OUT_OF_MEMORY);
  taken_[base] = size;
  return base;
}

bool Reservations::release(CUdeviceptr base, std::size_t size) {
  const auto at = taken_.find(base);
  if (at == taken_.end() || at->second != size) return false;
  taken_.erase(at);
  return true;
}

std::pair<CUdeviceptr, std::size_t> Reservations::find(CUdeviceptr address) const {
  const auto after = taken_.upper_bound(address);
  if (after == taken_.begin()) return {0, 0};
  const auto& [base, size] = *std::prev(after);
  return address - base < size ? std::pair(base, size) : std::pair<CUdeviceptr, std::size_t>(0, 0);
}

bool Reservations::holds(CUdeviceptr base, std::size_t size) const {
  return base >= arena_ && base - arena_ <= arena_size_ && size <= arena_size_ - (base - arena_);
}

int make_memory_file(std::size_t size, const CUmemAllocationProp& props) {
  const int fd = memfd_create("cufault-sim", MFD_CLOEXEC);
  require(fd >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  Trailer trailer{};
  std::memcpy(trailer.mark, kMark, sizeof kMark);
  trailer.size = size;
  trailer.props = props;
  if (ftruncate(fd, static_cast<off_t>(size + sizeof trailer)) != 0 ||
      pwrite(fd, &trailer, sizeof trailer, static_cast<off_t>(size)) != static_cast<ssize_t>(sizeof trailer)) {
    close(fd);
    refuse(CUDA_ERROR_OUT_OF_MEMORY);
  }
  return fd;
}

bool read_memory_file(int fd, std::size_t& size, CUmemAllocationProp& props) {
  struct stat status {};
  Trailer trailer{};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < static_cast<off_t>(sizeof trailer)) return false;
  const off_t at = status.st_size - static_cast<off_t>(sizeof trailer);
  if (pread(fd, &trailer, sizeof trailer, at) != static_cast<ssize_t>(sizeof trailer)) return false;
  if (std::memcmp(trailer.mark, kMark, sizeof kMark) != 0 || trailer.size != static_cast<std::uint64_t>(at)) return false;
  size = trailer.size;
  props = trailer.props;
  return true;
}

}  // namespace cufault::sim

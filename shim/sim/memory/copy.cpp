// SPDX-License-Identifier: Apache-2.0
// Checks of ranges (recorded: copy_*, set_alignment, args_memory) and the loops that move bytes.
#include "memory/copy.h"

#include <cstring>
#include <memory>

#include "core/call.h"
#include "memory/address_space.h"
#include "memory/array.h"

namespace cufault::sim {

namespace {

// One end of a copy: where its first byte is, how far rows and slices lie apart, and what keeps it alive.
struct Place {
  unsigned char* bytes = nullptr;
  std::size_t pitch = 0;
  std::size_t slice = 0;
  std::shared_ptr<const void> held;
};

struct Extent {
  std::size_t width, height, depth;
};

// The last byte of the extent, counted from the first, plus one.
std::size_t reach(const Extent& extent, std::size_t pitch, std::size_t slice) {
  return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
}

Place in_memory(const Call& call, CUdeviceptr address, End end, std::size_t length, bool write) {
  require(address != 0);
  const auto allocation = call.driver.memory.find(address);
  const void* pointer = reinterpret_cast<const void*>(address);
  if (allocation == nullptr) {
    if (end == End::device) {
      call.misuse(CUFAULT_MISUSE_FOREIGN_POINTER, pointer, "not memory of the driver");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    return {reinterpret_cast<unsigned char*>(address), 0, 0, nullptr};
  }
  if (length > allocation->size - (address - allocation->base)) {
    call.misuse(CUFAULT_MISUSE_OUT_OF_BOUNDS, pointer, std::to_string(length) + " bytes reach beyond the allocation's end");
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  // Recorded (vmm_write_read_only): refused at once, not a fault.
  require(allocation->access != CU_MEM_ACCESS_FLAGS_PROT_NONE && (!write || allocation->access != CU_MEM_ACCESS_FLAGS_PROT_READ));
  return {allocation->bytes(address), 0, 0, allocation};
}

Place resolve(const Call& call, CUmemorytype type, CUdeviceptr device, const void* host, CUarray array, std::size_t x,
              std::size_t y, std::size_t z, std::size_t pitch, std::size_t height, const Extent& extent, bool write) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    const auto target = call.use<Array>(array, CUDA_ERROR_INVALID_VALUE);
    require(x + extent.width <= target->pitch && y + extent.height <= target->rows() && z + extent.depth <= target->slices());
    unsigned char* first = static_cast<unsigned char*>(target->backing->where) + target->offset + z * target->slice() +
                           y * target->pitch + x;
    return {first, target->pitch, target->slice(), target};
  }
  require(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED);
  require(pitch == 0 || pitch >= x + extent.width);
  require(height == 0 || extent.depth <= 1 || height >= y + extent.height);
  if (pitch == 0) pitch = x + extent.width;
  if (height == 0) height = y + extent.height;
  const std::size_t slice = pitch * height;
  const CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
  const End end = type == CU_MEMORYTYPE_HOST ? End::host : type == CU_MEMORYTYPE_DEVICE ? End::device : End::any;
  require(base != 0);
  Place place = in_memory(call, base + z * slice + y * pitch + x, end, reach(extent, pitch, slice), write);
  place.pitch = pitch;
  place.slice = slice;
  return place;
}

}  // namespace

std::function<void()> plan_copy(const Call& call, CUdeviceptr to, End to_end, CUdeviceptr from, End from_end,
                                std::size_t size) {
  if (size == 0) return {};
  const Place target = in_memory(call, to, to_end, size, true), source = in_memory(call, from, from_end, size, false);
  return [target, source, size] { std::memmove(target.bytes, source.bytes, size); };
}

std::function<void()> plan_copy(const Call& call, const CUDA_MEMCPY3D& copy) {
  const Extent extent{copy.WidthInBytes, copy.Height, copy.Depth};
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return {};
  const Place source = resolve(call, copy.srcMemoryType, copy.srcDevice, copy.srcHost, copy.srcArray, copy.srcXInBytes,
                               copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight, extent, false);
  const Place target = resolve(call, copy.dstMemoryType, copy.dstDevice, copy.dstHost, copy.dstArray, copy.dstXInBytes,
                               copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight, extent, true);
  return [source, target, extent] {
    for (std::size_t z = 0; z < extent.depth; ++z)
      for (std::size_t y = 0; y < extent.height; ++y)
        std::memmove(target.bytes + z * target.slice + y * target.pitch, source.bytes + z * source.slice + y * source.pitch,
                     extent.width);
  };
}

std::function<void()> plan_set(const Call& call, const CUDA_MEMSET_NODE_PARAMS& set) {
  require(set.elementSize == 1 || set.elementSize == 2 || set.elementSize == 4);
  if (set.width == 0 || set.height == 0) return {};
  require(set.width <= SIZE_MAX / set.elementSize);
  const Extent extent{set.width * set.elementSize, set.height, 1};
  require(set.dst % set.elementSize == 0);
  if (set.height > 1) require(set.pitch >= extent.width && set.pitch % set.elementSize == 0);
  const Place target = in_memory(call, set.dst, End::device, reach(extent, set.pitch, 0), true);
  return [target, set] {
    unsigned char pattern[4];
    std::memcpy(pattern, &set.value, sizeof pattern);
    for (std::size_t y = 0; y < set.height; ++y) {
      unsigned char* row = target.bytes + y * set.pitch;
      if (set.elementSize == 1)
        std::memset(row, pattern[0], set.width);
      else
        for (std::size_t x = 0; x < set.width; ++x) std::memcpy(row + x * set.elementSize, pattern, set.elementSize);
    }
  };
}

CUDA_MEMCPY3D as_copy(CUdeviceptr to, End to_end, CUdeviceptr from, End from_end, std::size_t size) {
  CUDA_MEMCPY3D copy{};
  const auto type = [](End end) {
    return end == End::host ? CU_MEMORYTYPE_HOST : end == End::device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
  };
  copy.srcMemoryType = type(from_end);
  copy.srcDevice = from;
  copy.srcHost = reinterpret_cast<const void*>(from);
  copy.dstMemoryType = type(to_end);
  copy.dstDevice = to;
  copy.dstHost = reinterpret_cast<void*>(to);
  copy.WidthInBytes = size;
  copy.Height = copy.Depth = 1;
  return copy;
}

}  // namespace cufault::sim

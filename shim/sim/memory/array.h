// SPDX-License-Identifier: Apache-2.0
// Arrays: memory addressed by element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "context/owned.h"
#include "core/api.h"
#include "core/handles.h"
#include "memory/address_space.h"

namespace cufault::sim {

struct Array : Owned {
  static constexpr Kind kKind = Kind::array;

  Array(const std::shared_ptr<Context>& owner, const CUDA_ARRAY3D_DESCRIPTOR& wanted) : Owned(owner), descriptor(wanted) {}

  [[nodiscard]] std::size_t rows() const noexcept { return std::max<std::size_t>(descriptor.Height, 1); }
  [[nodiscard]] std::size_t slices() const noexcept { return std::max<std::size_t>(descriptor.Depth, 1); }
  [[nodiscard]] std::size_t slice() const noexcept { return pitch * rows(); }

  const CUDA_ARRAY3D_DESCRIPTOR descriptor;
  std::size_t pitch = 0;  // bytes of a row
  std::size_t offset = 0;
  std::shared_ptr<Backing> backing;
  bool level = false;  // of a mipmapped array, which owns it
};

struct MipmappedArray : Owned {
  static constexpr Kind kKind = Kind::mipmapped_array;

  using Owned::Owned;

  std::vector<void*> levels;  // handles
};

}  // namespace cufault::sim

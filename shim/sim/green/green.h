// SPDX-License-Identifier: Apache-2.0
// Green contexts: contexts on a part of a device's multiprocessors.
#pragma once

#include <memory>

#include "core/api.h"
#include "core/handles.h"

namespace cufault::sim {

struct Context;
struct Device;

struct GreenContext : Object {
  static constexpr Kind kKind = Kind::green_context;

  std::shared_ptr<Context> context;  // what cuCtxFromGreenCtx gives
  CUgreenCtx handle = nullptr;
};

struct ResourceDescriptor : Object {
  static constexpr Kind kKind = Kind::resource_descriptor;

  unsigned multiprocessors = 0;
};

// A resource of multiprocessors. `level` counts the splits it came from.
[[nodiscard]] CUdevResource multiprocessors(unsigned count, unsigned level);

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// What belongs to a context and is of no use without it.
#pragma once

#include <memory>

#include "core/handles.h"

namespace cufault::sim {

struct Context;

struct Owned : Object {
  explicit Owned(const std::shared_ptr<Context>& owner);

  // False once the context was destroyed or reset, even if the primary context lives again.
  [[nodiscard]] bool context_alive() const noexcept;
  // Refuses with CONTEXT_IS_DESTROYED.
  void require_context() const;

  const std::shared_ptr<Context> context;
  const unsigned life;  // of the context, counted by its activations
};

}  // namespace cufault::sim

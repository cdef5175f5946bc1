// SPDX-License-Identifier: Apache-2.0
// The common body of entry points without a model.
#include "core/unmodelled.h"

#include "core/call.h"

namespace cufault::sim {

CUresult unmodelled(const char* symbol) noexcept {
  return api(symbol, kPlain, [](Call& call) { call.unmodelled("the whole function"); });
}

}  // namespace cufault::sim

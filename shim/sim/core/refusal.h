// SPDX-License-Identifier: Apache-2.0
// How a body says which result its call answers: it throws, and the call's frame catches (see call.h).
#pragma once

#include "core/api.h"

namespace cufault::sim {

struct Refusal {
  CUresult code;
};

[[noreturn]] inline void refuse(CUresult code) { throw Refusal{code}; }

inline void require(bool holds, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!holds) [[unlikely]] refuse(otherwise);
}

}  // namespace cufault::sim

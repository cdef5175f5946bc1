// SPDX-License-Identifier: Apache-2.0
// The texts of results; generated from shim/spec/results.yaml.
#pragma once

#include <span>

#include "core/api.h"

namespace cufault::sim {

struct ResultText {
  CUresult code;
  const char* name;
  const char* description;
};

// In order of code; those that the recorded driver has.
[[nodiscard]] std::span<const ResultText> result_texts() noexcept;

}  // namespace cufault::sim

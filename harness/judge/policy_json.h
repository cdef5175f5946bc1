// SPDX-License-Identifier: Apache-2.0
// Rules, profiles and the vocabulary of faults, for whoever checks files before a run.
#pragma once

#include <string>

namespace cufault::judge {

// See policy() in _judge.pyi.
[[nodiscard]] std::string policy_as_json();

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// Which exception, warning or line on stderr speaks of which failed call.
#pragma once

#include "run.h"

namespace cufault::judge {

// Fills the channels of every failure and the stray lines of stderr. The README of this folder states the method.
void attribute(run& of);

// The opening of the step that an observed event belongs to; nowhere for none.
[[nodiscard]] std::size_t step_at(const run& of, const observed& shown_event);

}  // namespace cufault::judge

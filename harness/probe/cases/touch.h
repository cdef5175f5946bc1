// SPDX-License-Identifier: Apache-2.0
// Switches to a context and makes ordinary calls, to see what still works after an incident.
#pragma once

#include <cuda.h>

namespace probe {

void touch(CUcontext c);

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// The driver's own declarations, with default visibility: everything else in this library is hidden.
#pragma once

#define CUDA_ENABLE_DEPRECATED
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#pragma GCC visibility pop

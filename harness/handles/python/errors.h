// SPDX-License-Identifier: Apache-2.0
// CUDAError, CUDAWarning, and what carries the layer's failures into them.
#ifndef CUFAULT_REFERENCE_ERRORS_H
#define CUFAULT_REFERENCE_ERRORS_H

#include <nanobind/nanobind.h>

namespace cufault::reference {

// Makes both classes, translates cuda_error into CUDAError, sends reports to warnings.warn(CUDAWarning), and has
// deferred clean-up drained by a pending call.
void bind_errors(nanobind::module_& module);

// Reports a text that is not a driver call's failure (a user's deallocate() that raised) through the same channel. The
// lock must be held.
void warn(const char* text) noexcept;

}  // namespace cufault::reference

#endif

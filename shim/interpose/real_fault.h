/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the device itself fault: a kernel that stores where it must not, or traps. */
#ifndef CUFAULT_INTERPOSE_REAL_FAULT_H
#define CUFAULT_INTERPOSE_REAL_FAULT_H

#include <cstdint>

#include "process/text.h"

namespace cufault::interpose {

/*
 * In the calling thread's current context; waits until the driver reports the fault. `code`: CUDA_ERROR_ILLEGAL_ADDRESS,
 * CUDA_ERROR_MISALIGNED_ADDRESS or CUDA_ERROR_LAUNCH_FAILED (a trap). False: `why` says which driver call would not.
 */
[[nodiscard]] bool fault_the_device(std::int32_t code, process::text<256> &why) noexcept;

}  // namespace cufault::interpose

#endif

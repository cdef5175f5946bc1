/* SPDX-License-Identifier: Apache-2.0 */
/* What an effect does besides answering, before the driver is asked. */
#ifndef CUFAULT_INTERPOSE_EFFECTS_H
#define CUFAULT_INTERPOSE_EFFECTS_H

#include <cstdint>

#include "faults/engine.h"
#include "threads.h"

namespace cufault::interpose {

/*
 * Delays, hangs, calls back, or has the driver do what a third party would. Leaves errno as found. An effect that cannot be
 * had ends the process with status 97: a run must not look as if its fault had happened.
 */
void perform(const faults::decision &decided, std::uint32_t symbol, thread &me) noexcept;

}  // namespace cufault::interpose

#endif

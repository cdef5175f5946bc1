/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's side of the seam to the simulated driver. */
#ifndef CUFAULT_INTERPOSE_SIM_HOST_H
#define CUFAULT_INTERPOSE_SIM_HOST_H

namespace cufault::interpose {

/* Hands the simulator what the plan says of it and where to report. One that does not understand it ends the run with 97. */
void attach_simulator() noexcept;

}  // namespace cufault::interpose

#endif

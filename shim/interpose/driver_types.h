/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's types, every historic ABI included, with no name redirected to a newer one. */
#ifndef CUFAULT_INTERPOSE_DRIVER_TYPES_H
#define CUFAULT_INTERPOSE_DRIVER_TYPES_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cudaProfiler.h>
#include <vdpau/vdpau.h>
#include <cudaEGL.h>
#include <cudaGL.h>
#include <cudaVDPAU.h>

#include <cstdint>

namespace cufault::interpose {

/* An entry point that no header declares: twelve words reach every function of integers and pointers. */
using undeclared = CUresult(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                            std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);

}  // namespace cufault::interpose

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The driver behind the shim: the one that the process would have used, or the one that a plan names. */
#ifndef CUFAULT_INTERPOSE_BACKEND_H
#define CUFAULT_INTERPOSE_BACKEND_H

#include <cstdint>

#include "process/refuse.h"
#include "process/text.h"

namespace cufault::interpose {

using path = process::text<4096>;

struct backend {
  void *handle = nullptr; /* of dlopen, kept for ever */
  path file;
  std::uintptr_t low = 0; /* where it lies in memory */
  std::uintptr_t high = 0;
  [[nodiscard]] bool holds(std::uintptr_t address) const noexcept { return address >= low && address < high; }
};

/*
 * Opens the libcuda.so.1 that the loader would have taken if the shim were not there: LD_LIBRARY_PATH and the program's
 * own run path in the loader's order, then /etc/ld.so.cache, then the default folders. Files that are the shim itself
 * (by inode, whatever their name) and the toolkit's stub are passed over. False: `why` says what was tried.
 */
[[nodiscard]] bool open_real_driver(backend &found, process::message &why) noexcept;

/* Opens that file and no other. */
[[nodiscard]] bool open_driver_at(const char *file, backend &found, process::message &why) noexcept;

/* Fills in where it lies. */
void find_place(backend &of) noexcept;

/* How many functions named cu* or cudbg* the backend exports for which `known` answers false. */
[[nodiscard]] std::uint32_t count_uncovered(const backend &in, bool (*known)(const char *name)) noexcept;

}  // namespace cufault::interpose

#endif

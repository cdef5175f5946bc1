/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads the file that CUFAULT_PLAN names. */
#ifndef CUFAULT_INTERPOSE_PLAN_FILE_H
#define CUFAULT_INTERPOSE_PLAN_FILE_H

#include <cstddef>

#include "backend.h"
#include "process/refuse.h"

namespace cufault::interpose {

struct plan_file {
  interpose::path path;
  const char *bytes = nullptr; /* nullptr: no plan, pass through; otherwise kept for ever */
  std::size_t size = 0;
};

/* The variable as it is, or as it was when the program began: one that clears its environment keeps its plan. False: `why`. */
[[nodiscard]] bool read_plan_file(plan_file &into, process::message &why) noexcept;

}  // namespace cufault::interpose

#endif

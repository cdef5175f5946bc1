// SPDX-License-Identifier: Apache-2.0
// Runs each case in a process of its own, several at a time, and writes their rows in the order of the table.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/case_list.h"

namespace probe {

struct Settings {
  std::string driver = "libcuda.so.1";
  unsigned simulated_devices = 0;  // 0: as many as the driver has
  unsigned jobs = 1;
  unsigned timeout_s = 20;  // a case that takes longer is ended by SIGALRM
};

// Rows are "case<TAB>step<TAB>call<TAB>answer", after comment lines that name driver, device and date. A case that the
// machine cannot run leaves a comment line. Answers what kept it from starting, or nothing.
[[nodiscard]] std::string run(const std::vector<Case>& cases, const Settings& settings, std::FILE* out);

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of a PTX program, thread by thread, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ptx/program.h"

namespace cufault::sim::ptx {

enum class Outcome : std::uint8_t {
  done,
  illegal_address,
  misaligned_address,
  trap,
  unsupported,  // an instruction that nobody here interprets; the kernel had no effect from there on
};

struct Launch {
  const Program* program = nullptr;
  const Function* function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  std::size_t dynamic_shared = 0;
  const std::vector<unsigned char>* arguments = nullptr;
  // Where a variable of the module lies; 0 if there is none of that name.
  std::function<std::uint64_t(const std::string&)> address_of;
  // Host memory behind a device address, if the range is accessible in that way; else null.
  std::function<unsigned char*(std::uint64_t address, std::size_t size, bool write)> memory;
};

struct Result {
  Outcome outcome = Outcome::done;
  std::string text;  // of what was unsupported
};

[[nodiscard]] Result run(const Launch& launch);

}  // namespace cufault::sim::ptx

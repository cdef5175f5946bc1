// SPDX-License-Identifier: Apache-2.0
// The driver under examination: opened at run time, so that nothing here links against one.
#pragma once

#include <cstddef>
#include <string>

namespace probe::driver {

// Opens the library and fills the table behind the driver's functions, which entry_points.cpp defines in this program:
// they forward to the driver, and one that it lacks answers CUDA_ERROR_NOT_FOUND and is remembered (take_missing). Of a
// simulated driver with more than one device, `simulated_devices` says how many; 0 leaves the driver alone.
// Answers what is wrong, or nothing. Once per process, before the first driver call.
[[nodiscard]] std::string open(const std::string& path, unsigned simulated_devices);

// The address of one exported symbol, or null.
[[nodiscard]] void* find(const char* symbol);

// Whether this thread called a function that the driver lacks since the last time it was asked.
[[nodiscard]] bool take_missing();

// The table, by the order of entry_points.cpp.
extern const char* const entry_names[];
extern void* entries[];
extern const std::size_t entry_count;
void remember_missing();

}  // namespace probe::driver

// SPDX-License-Identifier: Apache-2.0
// Writes rows, and keeps the runner informed.
#include "core/recorder.h"

#include <unistd.h>

#include "core/driver.h"

namespace probe {
namespace {

Progress* progress = nullptr;
int output = -1;

void write_line(std::string_view label, std::string_view answer) {
  std::string line{label};
  line.append("\t").append(answer).append("\n");
  if (::write(output, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(9);
}

}  // namespace

void start_recording(Progress& shared, int descriptor) {
  progress = &shared;
  output = descriptor;
}

std::string name_of(CUresult result) {
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr) return name;
  return std::to_string(static_cast<int>(result));
}

std::string answer_of(CUresult result) { return driver::take_missing() ? "missing" : name_of(result); }

bool begin(std::string_view label) {
  const int row = ++progress->row;
  for (std::size_t i = 0; i < progress->death_count; i++) {
    if (progress->deaths[i].row != row) continue;
    write_line("PROCESS " + std::string{label}, "signal " + std::to_string(progress->deaths[i].signal));
    return false;
  }
  progress->inside = true;
  return true;
}

void write(std::string_view label, std::string_view answer) {
  progress->inside = false;
  write_line(label, answer);
}

void prepared(std::string_view call, CUresult result) {
  if (result == CUDA_SUCCESS) return;
  ++progress->row;
  write("SETUP " + std::string{call}, answer_of(result));
}

}  // namespace probe

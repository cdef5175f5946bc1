// SPDX-License-Identifier: Apache-2.0
// The files of a trace one by one, for the reader, its tests and its fuzzer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace.h"

namespace cufault::judge {

struct process_file {
  process info;
  std::uint64_t start_ns = 0;
  std::vector<std::string> symbols;
};

struct trace_segment {
  std::vector<event> events;
  std::uint64_t lost = 0;
};

// `name` is what errors call the file. Both throw file_error.
[[nodiscard]] process_file decode_process(std::string_view bytes, const std::string& name);
[[nodiscard]] trace_segment decode_segment(std::string_view bytes, const process_file& owner, const std::string& name);

}  // namespace cufault::judge

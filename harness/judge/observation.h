// SPDX-License-Identifier: Apache-2.0
// What the processes of a run showed: exceptions, warnings, texts, steps and their end (harness/FORMATS.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cufault::judge {

enum class shown : std::uint8_t {
  process,
  step_begin,
  step_end,
  exception,
  warning,
  unraisable,
  report,
  value,
  handle,
  finalizing,
  standard_out,
  standard_error,
  exit
};

struct exception_info {
  std::string type;
  std::string module;
  std::vector<std::string> mro;
  std::string message;
  std::optional<int> code;  // the CUresult that the library attached
  std::vector<std::string> notes;
  std::vector<exception_info> linked;  // cause, then context
};

// One line. Which members have a meaning depends on `what`, as in FORMATS.md.
struct observed {
  shown what = shown::process;
  std::uint32_t pid = 0;
  std::uint64_t time_ns = 0;
  std::optional<std::string> step;

  exception_info error;  // exception, warning, unraisable and report use type, module, mro and message
  bool handled = true;
  std::vector<std::string> warning_mro;  // of an escalated warning
  std::string object;                    // unraisable: the object it came from

  std::string name;  // of a step, value or handle
  std::string verb, step_object, kind, channel;
  bool changes_context = false;
  std::string outcome, reason;
  std::uint64_t handle = 0;

  std::string warning_filter;  // process
  std::string language;

  std::string text;  // stdout, stderr
  std::optional<int> status;
  std::string signal;
  bool timed_out = false;
};

struct observation {
  std::vector<observed> events;  // by time

  // The parent's word on how the process that was started ended; nullptr if there is none.
  [[nodiscard]] const observed* exit() const;
  // When the interpreter of that process began to finalize; the greatest number if it never said so.
  [[nodiscard]] std::uint64_t finalizing_ns(std::uint32_t pid) const;
  // Whether a process leaves the warning filter to the program, which may then hide reports.
  [[nodiscard]] bool program_filters_warnings(std::uint32_t pid) const;
  [[nodiscard]] std::string standard_error() const;
};

// Whether a list of qualified names has a class of that name, in whatever module.
[[nodiscard]] bool has_class(const std::vector<std::string>& mro, std::string_view name);

// Reads every observation.*.jsonl of a run folder. A last line that was cut off is left out, since a killed child
// leaves one; anything else that cannot be read throws file_error.
[[nodiscard]] observation read_observation(const std::string& run_folder);

// The lines of one file; `name` is what errors call it. Throws file_error.
[[nodiscard]] std::vector<observed> decode_observation(std::string_view lines, const std::string& name);

}  // namespace cufault::judge

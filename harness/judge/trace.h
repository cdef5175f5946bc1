// SPDX-License-Identifier: Apache-2.0
// What a run's trace says: the processes, and every call, step and remark in the order of time.
#pragma once

#include <cufault/trace_format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api.h"

namespace cufault::judge {

struct process {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint32_t backend = 0;  // cufault_backend
  std::uint32_t driver_version = 0;
  bool forked = false;
  std::uint32_t uncovered = 0;
  std::string program;
  std::string backend_path;
  std::vector<std::string> rules;  // labels, in the plan's order
  std::uint64_t lost = 0;          // records of all threads that found no room
  std::uint64_t calls = 0;
};

// One record. Which members have a meaning depends on `type`, as in trace_format.h.
struct event {
  std::uint16_t type = 0;  // cufault_record_type
  std::uint32_t pid = 0;
  std::uint32_t thread = 0;  // ordinal in its process, from 1
  std::uint64_t sequence = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // 0: never completed
  std::uint32_t step = 0;    // id
  std::uint32_t flags = 0;   // cufault_record_flag
  bool open = false;

  // CALL
  std::string name;                    // of the entry point
  const api::symbol* entry = nullptr;  // null: not in this build's table
  std::int32_t given = CUFAULT_NOT_ANSWERED;
  std::int32_t real = CUFAULT_NOT_FORWARDED;
  std::uint32_t rule = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t context_before = 0;
  std::uint64_t context_after = 0;
  std::uint32_t stack = 0;
  std::uint32_t argc = 0;
  std::uint32_t outc = 0;
  std::array<std::uint8_t, CUFAULT_TRACE_OUTS> out_arg{};
  std::array<std::uint64_t, CUFAULT_TRACE_ARGS> args{};
  std::array<std::uint64_t, CUFAULT_TRACE_OUTS> outs{};

  // everything else; `name` is then the entry point that UNMODELLED and MISUSE speak of
  std::uint32_t kind = 0;
  std::uint64_t value = 0;
  std::uint64_t other = 0;
  std::uint64_t third = 0;
  std::string text;

  [[nodiscard]] bool is_call() const { return type == CUFAULT_RECORD_CALL; }
  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
  // Answered with anything but success.
  [[nodiscard]] bool failed() const { return is_call() && !open && given != 0; }
  [[nodiscard]] bool succeeded() const { return is_call() && !open && given == 0; }
  // The driver did it, whatever was answered.
  [[nodiscard]] bool happened() const { return is_call() && !open && real == 0; }
  [[nodiscard]] bool in(std::string_view class_name) const { return entry != nullptr && entry->in(class_name); }
  // The plain name of the function, or the entry point's own where it is unknown.
  [[nodiscard]] std::string_view function() const { return entry != nullptr ? entry->function : name; }
  // What the pointer in that argument held after success.
  [[nodiscard]] std::optional<std::uint64_t> out_of(unsigned argument) const;
};

struct trace {
  std::vector<process> processes;  // in order of their start
  std::vector<event> events;       // by begin_ns, then process, thread and sequence

  [[nodiscard]] const process* find_process(std::uint32_t pid) const;
};

// Reads every process and trace file of a run folder. A folder without any gives an empty trace; a file that is cut
// off, of another version or inconsistent throws file_error.
[[nodiscard]] trace read_trace(const std::string& run_folder);

}  // namespace cufault::judge

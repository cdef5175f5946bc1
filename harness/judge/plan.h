// SPDX-License-Identifier: Apache-2.0
// The plan: from a request in JSON to the binary file of plan_format.h, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cufault::judge {

// Field for field cufault_plan_rule, with names instead of offsets; see there for the meaning of each.
struct plan_rule {
  std::string label;
  std::vector<std::string> symbols;  // expanded
  std::uint32_t effect = 0;
  std::int32_t code = 0;
  std::uint32_t sticky_scope = 0;
  std::uint64_t from = 1;
  std::uint64_t every = 1;
  std::uint64_t limit = 0;
  double probability = 1.0;
  std::uint64_t seed = 0;
  std::uint32_t nested = 0;
  std::uint32_t thread = 0;
  std::string thread_name;
  std::uint32_t thread_ordinal = 0;
  std::uint32_t step = 0;
  std::uint32_t after_rule = 0;
  std::uint32_t switch_role = 0;
  std::uint32_t handle_kind = 0;
  std::uint32_t handle_name = 0;
  std::uint32_t handle_ordinal = 0;
  std::uint32_t context_ordinal = 0;
  std::uint32_t device_plus_1 = 0;
  std::uint32_t argument = 0;
  std::uint32_t compare = 0;
  std::uint64_t value = 0;
  std::string module;
  std::string native_frame;
  std::string python_frame;
  bool unique_stack = false;
  std::uint64_t delay_ns = 0;
  std::string callback;
};

struct plan_handle {
  std::string name;
  std::uint32_t kind = 0;  // index of api::kinds() + 1
  std::uint32_t step = 0;  // index + 1 in plan::steps; 0: named by the program
};

struct plan {
  std::uint32_t backend = 0;
  std::string backend_path;
  std::string run_folder;
  bool trace = true;
  bool stacks = false;
  std::uint32_t trace_segment_records = 0;
  std::uint32_t trace_segments_per_thread = 0;
  std::uint32_t sim_device_count = 0;
  std::uint32_t sim_driver_version = 0;
  std::uint64_t sim_seed = 0;
  std::string sim_profile;
  std::vector<plan_rule> rules;
  std::vector<std::string> steps;
  std::vector<plan_handle> handles;
};

// From a plan request (harness/FORMATS.md). Throws request_error.
[[nodiscard]] plan parse_plan_request(std::string_view json_text);

// The file's bytes.
[[nodiscard]] std::string encode_plan(const plan& source);

// The other way round; `name` is what errors call the file. Throws file_error for anything that is not a whole plan of
// this version.
[[nodiscard]] plan decode_plan(std::string_view bytes, const std::string& name);

// Parse, encode, write. Throws request_error, file_error.
void write_plan(const std::string& path, std::string_view json_text);

// Throws file_error.
[[nodiscard]] plan read_plan(const std::string& path);

// For people and tests: the same keys as a plan request, with `symbols` (expanded) in place of `at` and `symbol`.
[[nodiscard]] std::string plan_as_json(const plan& source);

// "call_then_fail" for CUFAULT_EFFECT_CALL_THEN_FAIL; empty for a number that is none.
[[nodiscard]] std::string_view effect_name(std::uint32_t effect);

}  // namespace cufault::judge

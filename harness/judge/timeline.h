// SPDX-License-Identifier: Apache-2.0
// A run as people and other programs read it: the trace as JSON, the timeline of a verdict, the fault points of a clean
// run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run.h"

namespace cufault::judge {

// The verdict's `timeline`: every call that changed or failed something, with steps and what was shown, by time.
[[nodiscard]] nlohmann::json timeline(const run& of);

// The verdict's `calls` and `processes`.
[[nodiscard]] nlohmann::json calls_summary(const trace& source);
[[nodiscard]] nlohmann::json processes_summary(const trace& source);

// {"format": 1, "processes": [...], "events": [...]}: every record. Throws file_error.
[[nodiscard]] std::string trace_as_json(const std::string& run_folder);

// {"format": 1, "points": [...]}: every call of a run, in order, with its step, classes, switch role and ordinals.
// Calls made while the driver was calling back are left out. Throws file_error.
[[nodiscard]] std::string clean_run_points(const std::string& run_folder);

// JSON text; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string dumped(const nlohmann::json& value);

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// Reads what the processes of a run showed.
#include "observation.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "error.h"
#include "file.h"

namespace cufault::judge {

namespace {

using nlohmann::json;

std::string text(const json& from, const char* key) {
  const auto found = from.find(key);
  return found == from.end() || found->is_null() ? std::string() : found->get<std::string>();
}

std::vector<std::string> texts(const json& from, const char* key) {
  const auto found = from.find(key);
  return found == from.end() || found->is_null() ? std::vector<std::string>() : found->get<std::vector<std::string>>();
}

bool flag(const json& from, const char* key, bool fallback) {
  const auto found = from.find(key);
  return found == from.end() || found->is_null() ? fallback : found->get<bool>();
}

std::optional<int> number(const json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end() || found->is_null()) return std::nullopt;
  return found->get<int>();
}

// Chains are cut where they would be deeper than any traceback that a person reads.
exception_info error_of(const json& from, int depth = 0) {
  exception_info error;
  error.type = from.contains("category") ? text(from, "category") : text(from, "type");
  error.module = text(from, "module");
  error.mro = texts(from, "mro");
  error.message = text(from, "message");
  error.code = number(from, "code");
  error.notes = texts(from, "notes");
  if (depth < 16) {
    for (const char* key : {"cause", "context"}) {
      const auto found = from.find(key);
      if (found != from.end() && found->is_object()) error.linked.push_back(error_of(*found, depth + 1));
    }
  }
  return error;
}

std::optional<shown> kind_of(const std::string& name) {
  static const std::map<std::string, shown> names = {{"process", shown::process},
                                                     {"step_begin", shown::step_begin},
                                                     {"step_end", shown::step_end},
                                                     {"exception", shown::exception},
                                                     {"warning", shown::warning},
                                                     {"unraisable", shown::unraisable},
                                                     {"report", shown::report},
                                                     {"value", shown::value},
                                                     {"handle", shown::handle},
                                                     {"finalizing", shown::finalizing},
                                                     {"stdout", shown::standard_out},
                                                     {"stderr", shown::standard_error},
                                                     {"exit", shown::exit}};
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

observed event_of(const json& line, shown what) {
  observed out;
  out.what = what;
  out.pid = line.at("pid").get<std::uint32_t>();
  out.time_ns = line.at("time_ns").get<std::uint64_t>();
  if (const auto step = line.find("step"); step != line.end() && step->is_string()) out.step = step->get<std::string>();
  out.error = error_of(line);
  out.handled = flag(line, "handled", true);
  out.warning_mro = texts(line, "warning_mro");
  out.name = text(line, "name");
  out.verb = text(line, "verb");
  out.kind = text(line, "kind");
  out.channel = text(line, "channel");
  out.changes_context = flag(line, "changes_context", false);
  out.outcome = text(line, "outcome");
  out.reason = text(line, "reason");
  (what == shown::step_begin ? out.step_object : out.object) = text(line, "object");
  if (what == shown::handle) out.handle = std::stoull(text(line, "handle"), nullptr, 0);
  out.warning_filter = text(line, "warning_filter");
  out.language = text(line, "language");
  if (what == shown::standard_out || what == shown::standard_error) out.text = text(line, "text");
  if (what == shown::exit) {
    out.status = number(line, "status");
    out.signal = text(line, "signal");
    out.timed_out = flag(line, "timed_out", false);
  }
  return out;
}

}  // namespace

bool has_class(const std::vector<std::string>& mro, std::string_view name) {
  return std::any_of(mro.begin(), mro.end(), [name](std::string_view candidate) {
    const std::size_t dot = candidate.rfind('.');
    return (dot == std::string_view::npos ? candidate : candidate.substr(dot + 1)) == name;
  });
}

std::vector<observed> decode_observation(std::string_view lines, const std::string& name) {
  std::vector<observed> found;
  std::size_t number_of_line = 0;
  while (!lines.empty()) {
    ++number_of_line;
    const std::size_t end = lines.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = lines.substr(0, whole ? end : lines.size());
    lines.remove_prefix(whole ? end + 1 : lines.size());
    if (line.empty()) continue;
    const json value = json::parse(line, nullptr, false);
    if (value.is_discarded() && !whole) break;
    const std::string place = name + ":" + std::to_string(number_of_line);
    if (!value.is_object()) throw file_error(place, "is no JSON object");
    try {
      if (const auto format = value.find("format"); format != value.end() && *format != 1) {
        throw file_error(place, "is of format " + format->dump() + ", not 1");
      }
      const std::optional<shown> what = kind_of(value.at("event").get<std::string>());
      if (what) found.push_back(event_of(value, *what));
    } catch (const json::exception& problem) {
      throw file_error(place, std::string("is no event: ") + problem.what());
    } catch (const std::logic_error&) {
      throw file_error(place, "has a handle that is no number");
    }
  }
  return found;
}

observation read_observation(const std::string& run_folder) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::directory_iterator folder(run_folder, failure);
  if (failure) throw file_error(run_folder, "cannot be listed: " + failure.message());
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : folder) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("observation.") && name.ends_with(".jsonl")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  observation found;
  for (const std::string& path : paths) {
    for (observed& event : decode_observation(read_file(path), path)) found.events.push_back(std::move(event));
  }
  std::stable_sort(found.events.begin(), found.events.end(),
                   [](const observed& left, const observed& right) { return left.time_ns < right.time_ns; });
  return found;
}

const observed* observation::exit() const {
  for (const observed& event : events) {
    if (event.what == shown::exit) return &event;
  }
  return nullptr;
}

std::uint64_t observation::finalizing_ns(std::uint32_t pid) const {
  for (const observed& event : events) {
    if (event.what == shown::finalizing && event.pid == pid) return event.time_ns;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

bool observation::program_filters_warnings(std::uint32_t pid) const {
  return std::any_of(events.begin(), events.end(), [pid](const observed& event) {
    return event.what == shown::process && event.pid == pid && event.warning_filter == "program";
  });
}

std::string observation::standard_error() const {
  std::string all;
  for (const observed& event : events) {
    if (event.what == shown::standard_error) all += event.text;
  }
  return all;
}

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// Reads process.<pid> and trace.<pid>.<thread>.<segment> of a run folder; trusts nothing in them.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <tuple>

#include "error.h"
#include "file.h"
#include "trace.h"
#include "trace_file.h"

namespace cufault::judge {

namespace {

namespace fs = std::filesystem;

template <typename T>
T load(std::string_view bytes, std::uint64_t offset, const std::string& name) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) throw file_error(name, "is cut off");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string string_at(std::string_view bytes, std::uint64_t offset, const std::string& name) {
  if (offset == 0) return {};
  const std::size_t end = offset < bytes.size() ? bytes.find('\0', offset) : std::string_view::npos;
  if (end == std::string_view::npos) throw file_error(name, "names a text outside the file");
  return std::string(bytes.substr(offset, end - offset));
}

std::vector<std::string> strings_at(std::string_view bytes, std::uint64_t offset, std::uint32_t count,
                                    const std::string& name) {
  std::vector<std::string> found;
  for (std::uint32_t index = 0; index < count; ++index) {
    if (offset == 0) throw file_error(name, "has a list of texts without a place");
    found.push_back(string_at(bytes, offset, name));
    offset += found.back().size() + 1;
  }
  return found;
}

void check_head(std::string_view magic, const char* expected, std::uint32_t version, const std::string& name) {
  if (std::memcmp(magic.data(), expected, 8) != 0) throw file_error(name, "has another magic");
  if (version != CUFAULT_TRACE_VERSION) {
    throw file_error(name, "has version " + std::to_string(version) + ", not " + std::to_string(CUFAULT_TRACE_VERSION));
  }
}

std::string text_of(const cufault_text_body& body) {
  const char* end = static_cast<const char*>(std::memchr(body.text, '\0', sizeof(body.text)));
  return {body.text, end == nullptr ? sizeof(body.text) : static_cast<std::size_t>(end - body.text)};
}

const std::string& name_of(std::uint32_t symbol, const std::vector<std::string>& names, const std::string& file) {
  if (symbol >= names.size()) throw file_error(file, "has a record of an entry point that its process does not name");
  return names[symbol];
}

void fill_call(const cufault_call_body& body, const std::vector<std::string>& names, const std::string& file,
               event& out) {
  out.name = name_of(body.symbol, names, file);
  out.entry = api::find_symbol(out.name);
  out.given = body.result_given;
  out.real = body.result_real;
  out.rule = body.rule;
  out.ordinal = body.ordinal;
  out.context_before = body.context_before;
  out.context_after = body.context_after;
  out.stack = body.stack;
  out.argc = body.argc;
  if (body.outc > CUFAULT_TRACE_OUTS) throw file_error(file, "has a record with more results than there is room for");
  out.outc = body.outc;
  std::copy(std::begin(body.out_arg), std::end(body.out_arg), out.out_arg.begin());
  std::copy(std::begin(body.args), std::end(body.args), out.args.begin());
  std::copy(std::begin(body.outs), std::end(body.outs), out.outs.begin());
}

void fill_text(const cufault_text_body& body, const std::vector<std::string>& names, const std::string& file,
               event& out) {
  out.kind = body.kind;
  out.value = body.value;
  out.other = body.other;
  out.third = body.third;
  out.text = text_of(body);
  if (out.type == CUFAULT_RECORD_UNMODELLED || out.type == CUFAULT_RECORD_MISUSE) {
    out.name = name_of(body.symbol, names, file);
    out.entry = api::find_symbol(out.name);
  }
}

// "trace.12.1.3" -> {12, 1, 3}; empty for any other name.
std::vector<std::uint64_t> numbers_of(std::string_view name, std::string_view prefix, std::size_t count) {
  std::vector<std::uint64_t> found;
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  while (!name.empty() || found.empty()) {
    if (!name.starts_with('.')) return {};
    name.remove_prefix(1);
    std::uint64_t number = 0;
    const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (status != std::errc{}) return {};
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    found.push_back(number);
  }
  return found.size() == count ? found : std::vector<std::uint64_t>{};
}

}  // namespace

process_file decode_process(std::string_view bytes, const std::string& name) {
  const auto header = load<cufault_process_header>(bytes, 0, name);
  check_head({header.magic, sizeof(header.magic)}, CUFAULT_PROCESS_MAGIC, header.version, name);
  if (header.file_size > bytes.size()) throw file_error(name, "is cut off");
  process_file found;
  found.start_ns = header.start_ns;
  found.info.pid = header.pid;
  found.info.parent = header.parent_pid;
  found.info.backend = header.backend;
  found.info.driver_version = header.driver_version;
  found.info.forked = header.forked != 0;
  found.info.uncovered = header.uncovered_count;
  found.info.backend_path = string_at(bytes, header.backend_path_at, name);
  found.info.program = string_at(bytes, header.program_at, name);
  found.info.rules = strings_at(bytes, header.rules_at, header.rule_count, name);
  found.symbols = strings_at(bytes, header.symbols_at, header.symbol_count, name);
  return found;
}

trace_segment decode_segment(std::string_view bytes, const process_file& owner, const std::string& name) {
  const auto header = load<cufault_trace_header>(bytes, 0, name);
  check_head({header.magic, sizeof(header.magic)}, CUFAULT_TRACE_MAGIC, header.version, name);
  if (header.record_size != sizeof(cufault_trace_record)) throw file_error(name, "has records of another size");
  if (header.header_size < sizeof(header)) throw file_error(name, "has an impossible header size");
  trace_segment found;
  found.lost = header.lost;
  for (std::uint32_t index = 0; index < header.capacity; ++index) {
    const std::uint64_t place = header.header_size + std::uint64_t{sizeof(cufault_trace_record)} * index;
    // The file grows by whole segments, but a disk may have been full: what is not there was not written.
    if (place >= bytes.size()) break;
    const auto record = load<cufault_trace_record>(bytes, place, name);
    if (record.state == CUFAULT_RECORD_EMPTY) break;
    if (record.state > CUFAULT_RECORD_COMPLETE) throw file_error(name, "has a record in no known state");
    event out;
    out.type = record.type;
    out.pid = owner.info.pid;
    out.thread = header.thread;
    out.sequence = record.sequence;
    out.begin_ns = record.begin_ns;
    out.open = record.state == CUFAULT_RECORD_OPEN;
    out.end_ns = out.open ? 0 : record.end_ns;
    out.step = record.step;
    out.flags = record.flags;
    if (record.type == CUFAULT_RECORD_CALL) {
      fill_call(record.body.call, owner.symbols, name, out);
    } else if (record.type >= CUFAULT_RECORD_STEP_BEGIN && record.type <= CUFAULT_RECORD_NOTE) {
      fill_text(record.body.text, owner.symbols, name, out);
    } else {
      throw file_error(name, "has a record of a type that this version does not know");
    }
    found.events.push_back(std::move(out));
  }
  return found;
}

std::optional<std::uint64_t> event::out_of(unsigned argument) const {
  for (std::size_t index = 0; index < outc; ++index) {
    if (out_arg[index] == argument) return outs[index];
  }
  return std::nullopt;
}

const process* trace::find_process(std::uint32_t pid) const {
  for (const process& candidate : processes) {
    if (candidate.pid == pid) return &candidate;
  }
  return nullptr;
}

trace read_trace(const std::string& run_folder) {
  std::error_code failure;
  fs::directory_iterator folder(run_folder, failure);
  if (failure) throw file_error(run_folder, "cannot be listed: " + failure.message());
  std::map<std::uint64_t, process_file> owners;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::string> segments;
  for (const fs::directory_entry& entry : folder) {
    const std::string name = entry.path().filename().string();
    if (!numbers_of(name, "process", 1).empty()) {
      process_file owner = decode_process(read_file(entry.path().string()), entry.path().string());
      if (owner.info.pid != numbers_of(name, "process", 1)[0]) {
        throw file_error(entry.path().string(), "is of another process than its name says");
      }
      owners.emplace(owner.info.pid, std::move(owner));
    } else if (const auto numbers = numbers_of(name, "trace", 3); !numbers.empty()) {
      segments.emplace(std::tuple(numbers[0], numbers[1], numbers[2]), entry.path().string());
    }
  }
  trace found;
  for (const auto& [key, path] : segments) {
    const auto owner = owners.find(std::get<0>(key));
    if (owner == owners.end()) throw file_error(path, "has no file process." + std::to_string(std::get<0>(key)));
    trace_segment segment = decode_segment(read_file(path), owner->second, path);
    owner->second.info.lost += segment.lost;
    for (event& record : segment.events) {
      if (record.is_call()) ++owner->second.info.calls;
      found.events.push_back(std::move(record));
    }
  }
  std::stable_sort(found.events.begin(), found.events.end(), [](const event& left, const event& right) {
    return std::tuple(left.begin_ns, left.pid, left.thread, left.sequence) <
           std::tuple(right.begin_ns, right.pid, right.thread, right.sequence);
  });
  std::vector<const process_file*> by_start;
  for (const auto& [pid, owner] : owners) by_start.push_back(&owner);
  std::stable_sort(by_start.begin(), by_start.end(), [](const process_file* left, const process_file* right) {
    return left->start_ns < right->start_ns;
  });
  for (const process_file* owner : by_start) found.processes.push_back(owner->info);
  return found;
}

}  // namespace cufault::judge

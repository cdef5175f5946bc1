/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a run folder back for the shim's own tests; the judge has a reader of its own, which is not what is tested here. */
#ifndef CUFAULT_TESTS_TRACE_READING_H
#define CUFAULT_TESTS_TRACE_READING_H

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cufault/trace_format.h"

namespace cufault::tests {

struct trace_record {
  cufault_trace_record raw;
  cufault_trace_header segment;
  std::string symbol;
  [[nodiscard]] bool is_call(const std::string &name) const { return raw.type == CUFAULT_RECORD_CALL && symbol == name; }
  [[nodiscard]] bool has(std::uint32_t flag) const { return (raw.flags & flag) != 0; }
  [[nodiscard]] const cufault_call_body &call() const { return raw.body.call; }
  [[nodiscard]] std::string text() const { return raw.body.text.text; }
};

struct traced_process {
  cufault_process_header header;
  std::vector<std::string> rules;
  std::string backend_path;
  std::string program;
};

struct run_trace {
  std::map<std::uint32_t, traced_process> processes; /* by pid */
  std::vector<trace_record> records;                 /* by begin_ns, sequence */
  std::uint64_t lost = 0;

  [[nodiscard]] std::vector<trace_record> calls(const std::string &symbol) const {
    std::vector<trace_record> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found), [&](const auto &each) { return each.is_call(symbol); });
    return found;
  }
  [[nodiscard]] std::vector<trace_record> of_type(std::uint16_t type) const {
    std::vector<trace_record> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found), [&](const auto &each) { return each.raw.type == type; });
    return found;
  }
  [[nodiscard]] std::vector<trace_record> notes(std::uint32_t kind) const {
    std::vector<trace_record> found;
    for (const trace_record &each : of_type(CUFAULT_RECORD_NOTE)) {
      if (each.raw.body.text.kind == kind) found.push_back(each);
    }
    return found;
  }
};

inline std::string file_bytes(const std::filesystem::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

template <class T>
T read_at(const std::string &bytes, std::size_t at) {
  if (at + sizeof(T) > bytes.size()) throw std::runtime_error("a trace file is cut");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

inline std::vector<std::string> strings_at(const std::string &bytes, std::size_t at, std::uint32_t count) {
  std::vector<std::string> found;
  for (std::uint32_t i = 0; i < count; ++i) {
    found.emplace_back(bytes.c_str() + at);
    at += found.back().size() + 1;
  }
  return found;
}

inline run_trace read_run(const std::filesystem::path &folder) {
  run_trace run;
  std::map<std::uint32_t, std::vector<std::string>> names;
  const auto files = [&](const std::string &prefix) {
    std::vector<std::filesystem::path> found;
    for (const auto &each : std::filesystem::directory_iterator(folder)) {
      if (each.path().filename().string().starts_with(prefix)) found.push_back(each.path());
    }
    return found;
  };
  for (const auto &file : files("process.")) {
    const std::string bytes = file_bytes(file);
    traced_process process{read_at<cufault_process_header>(bytes, 0), {}, {}, {}};
    const cufault_process_header &head = process.header;
    if (head.file_size != bytes.size()) throw std::runtime_error(file.string() + " is not whole");
    names[head.pid] = strings_at(bytes, head.symbols_at, head.symbol_count);
    process.rules = strings_at(bytes, head.rules_at, head.rule_count);
    process.backend_path = bytes.c_str() + head.backend_path_at;
    process.program = bytes.c_str() + head.program_at;
    run.processes[head.pid] = process;
  }
  for (const auto &file : files("trace.")) {
    const std::string bytes = file_bytes(file);
    const auto head = read_at<cufault_trace_header>(bytes, 0);
    if (std::memcmp(head.magic, CUFAULT_TRACE_MAGIC, 8) != 0) throw std::runtime_error(file.string() + " has no head");
    run.lost += head.lost;
    for (std::uint32_t i = 0; i < head.capacity; ++i) {
      trace_record record{read_at<cufault_trace_record>(bytes, head.header_size + std::size_t{i} * head.record_size), head, {}};
      if (record.raw.state == CUFAULT_RECORD_EMPTY) break;
      if (record.raw.type == CUFAULT_RECORD_CALL) record.symbol = names.at(head.pid).at(record.call().symbol);
      run.records.push_back(record);
    }
  }
  std::stable_sort(run.records.begin(), run.records.end(), [](const trace_record &one, const trace_record &other) {
    return std::pair(one.raw.begin_ns, one.raw.sequence) < std::pair(other.raw.begin_ns, other.raw.sequence);
  });
  return run;
}

/* A folder of its own that goes with the test. */
class temporary_folder {
 public:
  explicit temporary_folder(const std::filesystem::path &in = std::filesystem::temp_directory_path()) {
    std::string name = (in / "cufault-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder &) = delete;
  temporary_folder &operator=(const temporary_folder &) = delete;
  [[nodiscard]] const std::filesystem::path &path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cufault::tests

#endif

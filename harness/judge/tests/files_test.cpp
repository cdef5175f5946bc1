// SPDX-License-Identifier: Apache-2.0
// Reading a run folder: traces and observations, whole, cut off, corrupt and of another version.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "error.h"
#include "file.h"
#include "observation.h"
#include "timeline.h"
#include "trace_file.h"

namespace cufault::judge {
namespace {

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

constexpr std::uint32_t pid = 42;

// A process file with two symbols and one rule.
std::string process_bytes(std::uint32_t version = CUFAULT_TRACE_VERSION) {
  const std::string texts = std::string("cuStreamDestroy_v2\0cuCtxGetCurrent\0f1\0/usr/bin/x\0", 49);
  cufault_process_header header{};
  std::memcpy(header.magic, CUFAULT_PROCESS_MAGIC, 8);
  header.version = version;
  header.header_size = sizeof(header);
  header.file_size = sizeof(header) + texts.size();
  header.pid = pid;
  header.backend = 2;
  header.symbol_count = 2;
  header.symbols_at = sizeof(header);
  header.rule_count = 1;
  header.rules_at = sizeof(header) + 35;
  header.program_at = sizeof(header) + 38;
  std::string bytes;
  append(bytes, header);
  return bytes + texts;
}

cufault_trace_record call_record(std::uint64_t sequence, std::uint32_t symbol, std::int32_t given,
                                 std::uint32_t state) {
  cufault_trace_record record{};
  record.state = state;
  record.type = CUFAULT_RECORD_CALL;
  record.sequence = sequence;
  record.begin_ns = 100 * sequence;
  record.end_ns = 100 * sequence + 50;
  record.body.call.symbol = symbol;
  record.body.call.result_given = given;
  record.body.call.argc = 1;
  record.body.call.args[0] = 0x5000;
  return record;
}

std::string segment_bytes(const std::vector<cufault_trace_record>& records,
                          std::uint32_t version = CUFAULT_TRACE_VERSION) {
  constexpr std::uint32_t first_record = 4096;
  constexpr std::uint32_t capacity = 8;
  cufault_trace_header header{};
  std::memcpy(header.magic, CUFAULT_TRACE_MAGIC, 8);
  header.version = version;
  header.header_size = first_record;
  header.record_size = sizeof(cufault_trace_record);
  header.capacity = capacity;
  header.pid = pid;
  header.thread = 1;
  header.segment = 1;
  header.lost = 5;
  std::string bytes;
  append(bytes, header);
  bytes.resize(first_record);
  for (const cufault_trace_record& record : records) append(bytes, record);
  bytes.resize(first_record + capacity * sizeof(cufault_trace_record));
  return bytes;
}

class RunFolder : public ::testing::Test {
 protected:
  RunFolder() {
    std::string name = "/tmp/cufault-judge-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~RunFolder() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, std::string_view bytes) const { write_file(folder_ + "/" + name, bytes); }
  std::string folder_;
};

TEST_F(RunFolder, ATraceIsReadWithItsNamesArgumentsAndLosses) {
  put("process.42", process_bytes());
  put("trace.42.1.1",
      segment_bytes({call_record(1, 0, 201, CUFAULT_RECORD_COMPLETE), call_record(2, 1, 0, CUFAULT_RECORD_OPEN)}));
  put("maps.42", "not ours to read");
  const trace found = read_trace(folder_);
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].name, "cuStreamDestroy_v2");
  EXPECT_EQ(found.events[0].function(), "cuStreamDestroy");
  EXPECT_TRUE(found.events[0].failed());
  EXPECT_EQ(found.events[0].args[0], 0x5000u);
  EXPECT_TRUE(found.events[1].open);
  EXPECT_FALSE(found.events[1].succeeded());
  ASSERT_EQ(found.processes.size(), 1u);
  EXPECT_EQ(found.processes[0].program, "/usr/bin/x");
  EXPECT_EQ(found.processes[0].rules, std::vector<std::string>{"f1"});
  EXPECT_EQ(found.processes[0].lost, 5u);
  EXPECT_EQ(found.processes[0].calls, 2u);
}

TEST_F(RunFolder, SegmentsOfSeveralThreadsAreMergedByTime) {
  put("process.42", process_bytes());
  std::string second = segment_bytes({call_record(1, 1, 0, CUFAULT_RECORD_COMPLETE)});
  reinterpret_cast<cufault_trace_header*>(second.data())->thread = 2;
  cufault_trace_record late = call_record(2, 0, 0, CUFAULT_RECORD_COMPLETE);
  put("trace.42.1.1", segment_bytes({late}));
  put("trace.42.2.1", second);
  const trace found = read_trace(folder_);
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].thread, 2u);
  EXPECT_EQ(found.events[1].thread, 1u);
}

TEST_F(RunFolder, AFolderWithoutATraceGivesAnEmptyOne) { EXPECT_TRUE(read_trace(folder_).events.empty()); }

TEST_F(RunFolder, ATraceWithoutItsProcessIsRefused) {
  put("trace.42.1.1", segment_bytes({}));
  EXPECT_THROW(static_cast<void>(read_trace(folder_)), file_error);
}

TEST_F(RunFolder, FilesOfAnotherVersionAreRefused) {
  put("process.42", process_bytes(2));
  EXPECT_THROW(static_cast<void>(read_trace(folder_)), file_error);
  put("process.42", process_bytes());
  put("trace.42.1.1", segment_bytes({}, 7));
  EXPECT_THROW(static_cast<void>(read_trace(folder_)), file_error);
}

TEST_F(RunFolder, FaultPointsCountForEachSymbolInTheRunAndInItsStep) {
  put("process.42", process_bytes());
  cufault_trace_record begin{};
  begin.state = CUFAULT_RECORD_COMPLETE;
  begin.type = CUFAULT_RECORD_STEP_BEGIN;
  begin.sequence = 2;
  begin.begin_ns = 150;
  begin.step = 1;
  begin.body.text.value = 1;
  std::strcpy(begin.body.text.text, "drop s");
  cufault_trace_record inside = call_record(3, 0, 0, CUFAULT_RECORD_COMPLETE);
  inside.step = 1;
  cufault_trace_record nested = call_record(4, 0, 0, CUFAULT_RECORD_COMPLETE);
  nested.flags = CUFAULT_CALL_NESTED;
  put("trace.42.1.1", segment_bytes({call_record(1, 0, 0, CUFAULT_RECORD_COMPLETE), begin, inside, nested}));
  const nlohmann::json points = nlohmann::json::parse(clean_run_points(folder_)).at("points");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["ordinal_in_run"], 1);
  EXPECT_TRUE(points[0]["step"].is_null());
  EXPECT_EQ(points[1]["ordinal_in_run"], 2);
  EXPECT_EQ(points[1]["ordinal_in_step"], 1);
  EXPECT_EQ(points[1]["step"], "drop s");
  EXPECT_EQ(nlohmann::json::parse(trace_as_json(folder_)).at("events").size(), 4u);
}

TEST(TraceFile, EveryTruncationIsRefusedOrShorterAndNeverCrashes) {
  const process_file owner = decode_process(process_bytes(), "process");
  const std::string whole = segment_bytes({call_record(1, 0, 0, CUFAULT_RECORD_COMPLETE)});
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    try {
      EXPECT_LE(decode_segment(whole.substr(0, size), owner, "trace").events.size(), 1u);
    } catch (const file_error&) {
    }
  }
  const std::string process = process_bytes();
  for (std::size_t size = 0; size < process.size(); ++size) {
    EXPECT_THROW(static_cast<void>(decode_process(process.substr(0, size), "process")), file_error) << size;
  }
}

TEST(TraceFile, ARecordOfAnUnknownTypeStateOrSymbolIsRefused) {
  const process_file owner = decode_process(process_bytes(), "process");
  cufault_trace_record type = call_record(1, 0, 0, CUFAULT_RECORD_COMPLETE);
  type.type = 99;
  EXPECT_THROW(static_cast<void>(decode_segment(segment_bytes({type}), owner, "trace")), file_error);
  EXPECT_THROW(static_cast<void>(decode_segment(segment_bytes({call_record(1, 0, 0, 9)}), owner, "trace")), file_error);
  EXPECT_THROW(
      static_cast<void>(decode_segment(segment_bytes({call_record(1, 9, 0, CUFAULT_RECORD_COMPLETE)}), owner, "trace")),
      file_error);
}

TEST(Observation, IsReadWithExceptionsTheirNotesAndCauses) {
  const std::vector<observed> found = decode_observation(
      R"({"event": "process", "pid": 1, "time_ns": 1, "step": null, "format": 1, "warning_filter": "always"}
{"event": "exception", "pid": 1, "time_ns": 2, "step": "make s", "type": "CUDAError", "module": "lib", "mro": ["lib.CUDAError"], "message": "m", "code": 201, "notes": ["n"], "cause": {"type": "E", "message": "c", "code": 2}, "context": null, "handled": false}
{"event": "something new", "pid": 1, "time_ns": 3, "step": null}
{"event": "handle", "pid": 1, "time_ns": 4, "step": null, "name": "s", "kind": "stream", "handle": "0x5000"}
)",
      "o");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].error.code, 201);
  EXPECT_FALSE(found[1].handled);
  EXPECT_EQ(found[1].error.notes, std::vector<std::string>{"n"});
  ASSERT_EQ(found[1].error.linked.size(), 1u);
  EXPECT_EQ(found[1].error.linked[0].code, 2);
  EXPECT_EQ(found[2].handle, 0x5000u);
}

TEST(Observation, ALastLineThatWasCutOffIsLeftOut) {
  EXPECT_EQ(
      decode_observation("{\"event\": \"finalizing\", \"pid\": 1, \"time_ns\": 1}\n{\"event\": \"exc", "o").size(), 1u);
}

TEST(Observation, AnyOtherBrokenLineIsRefusedWithItsNumber) {
  for (const char* lines :
       {"{\"event\"\n{\"event\": \"exit\", \"pid\": 1, \"time_ns\": 1}\n", "[]\n", "{\"event\": \"exit\"}\n",
        "{\"event\": \"handle\", \"pid\": 1, \"time_ns\": 1, \"handle\": \"no\"}\n",
        "{\"event\": \"process\", \"pid\": 1, \"time_ns\": 1, \"format\": 2}\n"}) {
    try {
      static_cast<void>(decode_observation(lines, "o"));
      ADD_FAILURE() << "not refused: " << lines;
    } catch (const file_error& error) {
      EXPECT_NE(std::string(error.what()).find("o:1"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace cufault::judge

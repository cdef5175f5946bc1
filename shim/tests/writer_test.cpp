// SPDX-License-Identifier: Apache-2.0
// Trace files as they are on disk while they are written: numbers, segments, losses, records that stay open.
#include "trace/writer.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "trace_reading.h"

namespace cufault::tests {
namespace {

using ::testing::SizeIs;

const char *symbol_name(std::uint32_t index) { return index == 0 ? "cuFirst" : "cuSecond"; }
const char *rule_label(std::uint32_t, const void *) { return "a rule"; }

trace::process_facts facts() {
  trace::process_facts facts;
  facts.api_hash = 77;
  facts.parent_pid = 5;
  facts.backend = 3;
  facts.driver_version = 13000;
  facts.backend_path = "/lib/driver.so";
  facts.symbol_count = 2;
  facts.symbol_name = symbol_name;
  facts.rule_count = 1;
  facts.rule_label = rule_label;
  return facts;
}

class Writer : public ::testing::Test {
 protected:
  void start(std::uint32_t records, std::uint32_t segments) {
    path_ = folder_.path().string();
    process::message why;
    ASSERT_TRUE(writer_.start(path_.c_str(), records, segments, facts(), why)) << why.c_str();
    ASSERT_TRUE(writer_.open(log_, 1, static_cast<std::uint32_t>(::getpid())));
  }
  void note(std::string_view text) {
    trace::text_fields fields;
    fields.kind = CUFAULT_NOTE_TEXT;
    fields.text = text;
    writer_.write_text(log_, 0, fields);
  }
  run_trace read() { return read_run(folder_.path()); }

  temporary_folder folder_;
  std::string path_;
  trace::writer writer_;
  trace::log log_{};
};

TEST_F(Writer, SaysWhoTheProcessIs) {
  start(4, 4);
  const traced_process process = read().processes.at(static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(process.header.api_hash, 77u);
  EXPECT_EQ(process.header.driver_version, 13000u);
  EXPECT_EQ(process.backend_path, "/lib/driver.so");
  EXPECT_EQ(process.rules, std::vector<std::string>{"a rule"});
  EXPECT_EQ(process.program, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_F(Writer, NumbersRecordsOverAllSegments) {
  start(3, 10);
  for (int i = 0; i < 8; ++i) note(std::to_string(i));
  const run_trace run = read();
  ASSERT_THAT(run.records, SizeIs(8));
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(run.records[i].raw.sequence, i + 1);
    EXPECT_EQ(run.records[i].text(), std::to_string(i));
    EXPECT_EQ(run.records[i].segment.segment, i / 3 + 1);
  }
  EXPECT_EQ(run.lost, 0u);
}

TEST_F(Writer, CountsWhatFindsNoRoom) {
  start(2, 2);
  for (int i = 0; i < 9; ++i) note("x");
  const run_trace run = read();
  EXPECT_THAT(run.records, SizeIs(4));
  EXPECT_EQ(run.lost, 5u);
}

TEST_F(Writer, ARecordStaysOpenUntilItIsCompleted) {
  start(4, 4);
  cufault_trace_record *const record = writer_.next(log_, CUFAULT_RECORD_CALL, 3);
  ASSERT_NE(record, nullptr);
  EXPECT_THAT(read().records, SizeIs(0)) << "not written whole yet";
  trace::writer::publish_open(log_, *record);
  EXPECT_EQ(read().records.at(0).raw.state, CUFAULT_RECORD_OPEN);
  trace::writer::publish_complete(log_, *record);
  EXPECT_EQ(read().records.at(0).raw.state, CUFAULT_RECORD_COMPLETE);
  EXPECT_EQ(read().records.at(0).raw.step, 3u);
}

TEST_F(Writer, ACallThatOutlivesItsSegmentIsCompletedThere) {
  start(2, 8);
  cufault_trace_record *const outer = writer_.next(log_, CUFAULT_RECORD_CALL, 0);
  trace::writer::publish_open(log_, *outer);
  for (int i = 0; i < 7; ++i) note("inside");
  trace::writer::publish_complete(log_, *outer);
  EXPECT_EQ(read().records.at(0).raw.state, CUFAULT_RECORD_COMPLETE);
}

TEST_F(Writer, CutsTextsThatDoNotFit) {
  start(2, 2);
  note(std::string(500, 'x'));
  const std::string text = read().records.at(0).text();
  EXPECT_EQ(text.size(), CUFAULT_TRACE_TEXT - 1u);
  EXPECT_TRUE(text.ends_with("x..."));
}

TEST_F(Writer, ReservesTheSpaceOfASegment) {
  start(64, 1);
  const auto file = folder_.path() / ("trace." + std::to_string(::getpid()) + ".1.1");
  EXPECT_EQ(std::filesystem::file_size(file), 4096u + 64 * 256);
}

TEST_F(Writer, WithoutRoomForAFurtherSegmentCountsInTheLastOne) {
  start(2, 100);
  note("1");
  note("2");
  // As a full disk does: no file may grow beyond what the first segment took.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{16, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  note("3");
  note("4");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  const run_trace run = read();
  EXPECT_THAT(run.records, SizeIs(2));
  EXPECT_EQ(run.lost, 2u);
}

TEST_F(Writer, AFolderThatIsNotThereIsRefusedByName) {
  process::message why;
  EXPECT_FALSE(writer_.start("/nonexistent/run", 0, 0, facts(), why));
  EXPECT_THAT(why.c_str(), ::testing::HasSubstr("/nonexistent/run"));
}

TEST_F(Writer, ASecondProgramOfTheSameProcessIsNumberedOn) {
  start(4, 4);
  note("first program");
  trace::writer second;
  process::message why;
  ASSERT_TRUE(second.start(path_.c_str(), 4, 4, facts(), why)) << why.c_str();
  EXPECT_TRUE(second.continued());
  trace::log log{};
  ASSERT_TRUE(second.open(log, 1, 1));
  EXPECT_EQ(log.thread, 2u);
  trace::log another{};
  ASSERT_TRUE(second.open(another, 2, 1));
  EXPECT_EQ(another.thread, 3u);
  EXPECT_EQ(read().records.at(0).text(), "first program");
}

TEST_F(Writer, ASecondProgramWithAnotherTableIsRefused) {
  start(4, 4);
  trace::process_facts other = facts();
  other.api_hash = 78;
  process::message why;
  trace::writer second;
  EXPECT_FALSE(second.start(path_.c_str(), 4, 4, other, why));
}

}  // namespace
}  // namespace cufault::tests

// SPDX-License-Identifier: Apache-2.0
// Whatever the instruction at which a process is killed: every call that had come back is whole in its trace.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <random>

#include "program.h"

namespace cufault::tests {
namespace {

/* How often; CUFAULT_TEST_KILLS asks for more. */
int wanted_kills() {
  const char *const asked = std::getenv("CUFAULT_TEST_KILLS");
  return asked == nullptr ? 1000 : std::atoi(asked);
}

/* Checks one process's records: numbered without a gap, all complete but at most the last. Returns how many are complete. */
std::uint64_t check_thread(const std::vector<trace_record> &records) {
  std::uint64_t complete = 0, sequence = 0;
  for (const trace_record &each : records) {
    EXPECT_EQ(each.raw.sequence, ++sequence);
    EXPECT_EQ(each.symbol, "cuCtxSynchronize");
    if (each.raw.state == CUFAULT_RECORD_COMPLETE) {
      ++complete;
      EXPECT_EQ(each.call().result_given, 0);
      EXPECT_GE(each.raw.end_ns, each.raw.begin_ns);
    } else {
      EXPECT_EQ(&each, &records.back()) << "an open record is the last";
    }
  }
  return complete;
}

TEST(Trace, IsWholeAfterAKillAtAnyInstruction) {
  const int kills = wanted_kills();
  shim_run run(std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path());
  // Small segments, so that many a kill hits the making of one.
  run.plan.header.trace_segment_records = 32;
  run.plan.header.trace_segments_per_thread = 100000;
  const std::string counts = (run.folder() / "counts").string();
  run.under.variables["VICTIM_COUNTS"] = counts;
  const outcome out = run.victim({"init", "killed-children", std::to_string(kills)});
  ASSERT_EQ(out.status, 0) << out.err;

  std::map<std::uint32_t, std::vector<trace_record>> by_process;
  const run_trace trace = run.trace();
  for (const trace_record &each : trace.records) {
    if (each.raw.type == CUFAULT_RECORD_CALL && each.symbol == "cuCtxSynchronize") by_process[each.segment.pid].push_back(each);
  }
  std::ifstream in(counts);
  std::uint32_t pid = 0;
  std::uint64_t returned = 0;
  int seen = 0, interrupted = 0;
  while (in >> pid >> returned) {
    ++seen;
    std::vector<trace_record> &records = by_process[pid];
    std::sort(records.begin(), records.end(), [](const auto &one, const auto &other) { return one.raw.sequence < other.raw.sequence; });
    const std::uint64_t complete = check_thread(records);
    EXPECT_GE(complete, returned) << pid;
    EXPECT_LE(complete, returned + 1) << pid;
    interrupted += complete < records.size();
  }
  EXPECT_EQ(seen, kills);
  EXPECT_GT(interrupted, 0) << "no kill came inside a call: the test has lost its meaning";
}

}  // namespace
}  // namespace cufault::tests

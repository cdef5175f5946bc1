// SPDX-License-Identifier: Apache-2.0
#include "libc/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace cufault::libc {
namespace {

using testing::HasSubstr;

// A good plan of one malloc rule and one close rule, and what a test makes of it.
struct plan_file {
  cufault_libc_plan_header header{};
  std::vector<cufault_libc_rule> rules{2};
  std::string strings = std::string("\0/run\0one\0two\0lib*.so\0", 22);

  plan_file() {
    std::memcpy(header.magic, CUFAULT_LIBC_PLAN_MAGIC, 8);
    header.version = CUFAULT_LIBC_PLAN_VERSION;
    header.header_size = sizeof header;
    header.run_folder = 1;
    rules[0] = {6, CUFAULT_LIBC_MALLOC | CUFAULT_LIBC_OPERATOR_NEW, 14, 0, 3, 1, 1, 0, 0, -1, 0, {}};
    rules[1] = {10, CUFAULT_LIBC_CLOSE, 0, CUFAULT_LIBC_REALLY_CLOSE, 1, 1, 0, 0, 0, 7, 5, {}};
  }

  [[nodiscard]] std::string bytes(bool sign = true) {
    header.rules_at = sizeof header;
    header.rule_count = static_cast<std::uint32_t>(rules.size());
    header.strings_at = static_cast<std::uint32_t>(sizeof header + rules.size() * sizeof(cufault_libc_rule));
    header.strings_size = static_cast<std::uint32_t>(strings.size());
    header.file_size = header.strings_at + strings.size();
    header.checksum = 0;
    if (sign) {
      const std::string unsigned_bytes = bytes(false);
      header.checksum = plan_checksum(unsigned_bytes.data(), unsigned_bytes.size());
    }
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    all.append(reinterpret_cast<const char*>(rules.data()), rules.size() * sizeof(cufault_libc_rule));
    return all + strings;
  }
};

// The reason for a refusal, or "".
std::string refusal(const std::string& bytes) {
  // Behind the bytes is nothing that may be read.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  plan read;
  process::message why;
  if (read.read(exact.data(), exact.size(), why)) return "";
  EXPECT_NE(why.size(), 0u);
  return std::string(why.view());
}

std::string refusal_after(const std::function<void(plan_file&)>& change) {
  plan_file file;
  change(file);
  return refusal(file.bytes());
}

TEST(LibcPlan, IsReadAsWritten) {
  const std::string bytes = plan_file().bytes();
  plan read;
  process::message why;
  ASSERT_TRUE(read.read(bytes.data(), bytes.size(), why)) << why.view();
  EXPECT_STREQ(read.run_folder(), "/run");
  EXPECT_EQ(read.firing_capacity(), 1024u);
  EXPECT_STREQ(read.label(1), "two");
  EXPECT_EQ(read.rules_watching(CUFAULT_LIBC_MALLOC), 1u);
  EXPECT_EQ(read.rules_watching(CUFAULT_LIBC_OPERATOR_NEW), 1u);
  EXPECT_EQ(read.rules_watching(CUFAULT_LIBC_CALLOC), 0u);
  EXPECT_EQ(read.rules_watching(CUFAULT_LIBC_CLOSE), 2u);
  EXPECT_EQ(read.rules_for_any_caller(), 2u);
  EXPECT_EQ(read.rules_for_module("libfoo.so"), 3u);
  EXPECT_EQ(read.rules_for_module("python3"), 2u);
}

TEST(LibcPlan, RefusesWhatThisBuildDoesNotKnow) {
  const std::vector<std::pair<std::function<void(plan_file&)>, std::string>> changes = {
      {[](auto& f) { f.header.magic[0] = 'X'; }, "not a plan"},
      {[](auto& f) { f.header.version = 2; }, "version 2"},
      {[](auto& f) { f.header.header_size = 100; }, "version"},
      {[](auto& f) { f.header.reserved[9] = 1; }, "reserved"},
      {[](auto& f) { f.header.run_folder = 6; }, "'one' is not an absolute path"},
      {[](auto& f) { f.header.run_folder = 99; }, "strings"},
      {[](auto& f) { f.header.firing_capacity = 1u << 21; }, "firing_capacity"},
      {[](auto& f) { f.strings.back() = 'x'; }, "NUL"},
      {[](auto& f) { f.rules.resize(65, f.rules[0]); }, "65 rules"},
      {[](auto& f) { f.rules[0].functions = 0; }, "rule 1: functions 0x0"},
      {[](auto& f) { f.rules[0].functions = 64; }, "rule 1: functions 0x40"},
      {[](auto& f) { f.rules[0].functions |= CUFAULT_LIBC_CLOSE; }, "close shares no rule"},
      {[](auto& f) { f.rules[0].label = 0; }, "label"},
      {[](auto& f) { f.rules[0].label = 1000; }, "string"},
      {[](auto& f) { f.rules[0].module = 1000; }, "string"},
      {[](auto& f) { f.rules[1].label = 6; }, "rule 2: its label is that of rule 1"},
      {[](auto& f) { f.rules[0].from = 0; }, "count from 1"},
      {[](auto& f) { f.rules[0].every = 0; }, "count from 1"},
      {[](auto& f) { f.rules[0].flags = 1; }, "flags"},
      {[](auto& f) { f.rules[1].flags = 2; }, "flags"},
      {[](auto& f) { f.rules[0].error = 5; }, "ENOMEM"},
      {[](auto& f) { f.rules[1].error = 0; }, "no errno"},
      {[](auto& f) { f.rules[0].descriptor = 3; }, "descriptor 3"},
      {[](auto& f) { f.rules[1].descriptor = -2; }, "descriptor -2"},
      {[](auto& f) {
         f.rules[0].least_size = 9;
         f.rules[0].most_size = 8;
       },
       "sizes from 9 to 8"},
      {[](auto& f) { f.rules[1].most_size = 8; }, "sizes"},
      {[](auto& f) { f.rules[1].reserved[5] = 1; }, "rule 2: reserved"},
  };
  for (const auto& [change, reason] : changes) EXPECT_THAT(refusal_after(change), HasSubstr(reason));
}

TEST(LibcPlan, RefusesItAtEveryLengthButItsOwn) {
  const std::string bytes = plan_file().bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(refusal(bytes.substr(0, length)), "") << length;
  EXPECT_NE(refusal(bytes + '\0'), "");
  EXPECT_EQ(refusal(bytes), "");
}

TEST(LibcPlan, RefusesEveryChangedByte) {
  const std::string bytes = plan_file().bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(refusal(changed), "") << "byte " << at;
  }
}

TEST(LibcPlan, SurvivesPlansOfRandomBytesThatAreSigned) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = plan_file().bytes();
    for (int changes = 0; changes < 3; ++changes) bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::uint64_t sum = plan_checksum(bytes.data(), bytes.size());
    std::memcpy(bytes.data() + offsetof(cufault_libc_plan_header, checksum), &sum, sizeof sum);
    static_cast<void>(refusal(bytes));
  }
}

}  // namespace
}  // namespace cufault::libc

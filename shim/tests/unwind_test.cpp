// SPDX-License-Identifier: Apache-2.0
// The walk gives what the platform's own unwinder gives, whatever frames it goes through.
#include "process/unwind.h"

#include <alloca.h>
#include <execinfo.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "trace/stacks.h"
#include "trace_reading.h"

namespace cufault::tests {
namespace {

process::unwinder &walker() {
  static process::unwinder walker;
  static const bool started = walker.start();
  EXPECT_TRUE(started);
  return walker;
}

struct both {
  std::vector<std::uintptr_t> ours;
  std::vector<std::uintptr_t> theirs;
};

__attribute__((noinline)) both look() {
  thread_local process::stack_bounds bounds{};
  both found;
  found.ours.resize(256);
  found.ours.resize(walker().walk(__builtin_frame_address(0), bounds, found.ours.data(), found.ours.size()));
  std::vector<void *> buffer(256);
  const int count = ::backtrace(buffer.data(), static_cast<int>(buffer.size()));
  // Its own first entry is this function; ours begin with who called it.
  for (int i = 1; i < count; ++i) found.theirs.push_back(reinterpret_cast<std::uintptr_t>(buffer[static_cast<std::size_t>(i)]));
  return found;
}

void expect_equal(const both &found) {
  ASSERT_GE(found.ours.size(), 3u);
  EXPECT_EQ(found.ours, found.theirs);
}

__attribute__((noinline)) int deeper(int depth, const std::function<void()> &at_the_bottom) {
  // A frame of varying size needs a frame pointer; an aligned object a realigned stack.
  auto *const room = static_cast<char *>(alloca(static_cast<std::size_t>(16 + depth * 24)));
  alignas(64) volatile char aligned[64] = {};
  aligned[0] = static_cast<char>(depth);
  std::memset(room, depth, 16);
  if (depth == 0) {
    at_the_bottom();
  } else {
    (void)deeper(depth - 1, at_the_bottom);
  }
  return room[3] + aligned[0];
}

TEST(Unwinder, AgreesWithThePlatformsThroughRecursionAndRealignedFrames) {
  both found;
  (void)deeper(20, [&] { found = look(); });
  EXPECT_GE(found.ours.size(), 22u);
  expect_equal(found);
}

TEST(Unwinder, AgreesInACallbackOfTheLibrary) {
  static both found;
  int numbers[] = {2, 1};
  std::qsort(numbers, 2, sizeof(int), [](const void *, const void *) {
    found = look();
    return 0;
  });
  expect_equal(found);
}

TEST(Unwinder, AgreesOnAnotherThread) {
  both found;
  std::thread([&] { found = look(); }).join();
  expect_equal(found);
}

TEST(Unwinder, GivesTheSameFromItsMemory) {
  both first, second;
  for (both *each : {&first, &second}) (void)deeper(5, [&] { *each = look(); });
  expect_equal(second);
}

TEST(Unwinder, StopsWhereThereIsNoRoom) {
  std::uintptr_t addresses[2] = {};
  process::stack_bounds bounds{};
  EXPECT_EQ(walker().walk(__builtin_frame_address(0), bounds, addresses, 2), 2u);
}

TEST(Stacks, AreStoredOnceEach) {
  temporary_folder folder;
  const std::string path = folder.path().string();
  trace::stack_store store;
  process::message why;
  ASSERT_TRUE(store.start(path.c_str(), why)) << why.c_str();
  const std::uintptr_t one[] = {1, 2, 3}, other[] = {1, 2};
  const auto id = [&](const auto &stack) { return store.id_of(stack, std::size(stack), process::stack_hash(stack, std::size(stack))); };
  EXPECT_EQ(id(one), 1u);
  EXPECT_EQ(id(other), 2u);
  EXPECT_EQ(id(one), 1u);
  const std::string bytes = file_bytes(folder.path() / ("stacks." + std::to_string(::getpid())));
  const auto head = read_at<cufault_stacks_header>(bytes, 0);
  EXPECT_EQ(head.used, 2 * sizeof(cufault_stack_entry) + 5 * 8);
  const auto second = read_at<cufault_stack_entry>(bytes, sizeof head + sizeof(cufault_stack_entry) + 3 * 8);
  EXPECT_EQ(second.id, 2u);
  EXPECT_EQ(second.depth, 2u);
  EXPECT_EQ(file_bytes(folder.path() / ("maps." + std::to_string(::getpid()))).empty(), false);
}

TEST(Stacks, ThatGrowBeyondTheReservedSpaceReserveMore) {
  temporary_folder folder;
  const std::string path = folder.path().string();
  trace::stack_store store;
  process::message why;
  ASSERT_TRUE(store.start(path.c_str(), why)) << why.c_str();
  std::vector<std::uintptr_t> stack(128);
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    stack[0] = i;
    ASSERT_EQ(store.id_of(stack.data(), stack.size(), process::stack_hash(stack.data(), stack.size())), i);
  }
  trace::stack_store again;
  ASSERT_TRUE(again.start(path.c_str(), why)) << why.c_str();
  stack[0] = 0;
  EXPECT_EQ(again.id_of(stack.data(), stack.size(), 77), 2001u) << "a second program of the process goes on";
}

}  // namespace
}  // namespace cufault::tests

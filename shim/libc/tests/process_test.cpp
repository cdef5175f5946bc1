// SPDX-License-Identifier: Apache-2.0
// What the library reads off its own process: symbols and modules.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "libc/loaded_symbol.h"
#include "libc/modules.h"

namespace cufault::libc {
namespace {

const int here = 0;

TEST(LoadedSymbol, FindsWhatDlsymFindsBehindTheProgram) {
  for (const char* name : {"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign",
                           "valloc", "pvalloc", "close", "_Znwm", "_Znam", "_ZnwmSt11align_val_tRKSt9nothrow_t",
                           "_ZSt17__throw_bad_allocv", "_ZdlPvSt11align_val_t", "memcpy"}) {
    const loaded_function found = find_behind(&here, name);
    EXPECT_EQ(found.address, ::dlsym(RTLD_NEXT, name)) << name;
    EXPECT_NE(found.size, 0u) << name;
  }
}

TEST(LoadedSymbol, SaysWhoseItIsAndFindsNoData) {
  char owner[4096];
  ASSERT_NE(find_behind(&here, "_ZSt17__throw_bad_allocv", owner, sizeof owner).address, nullptr);
  EXPECT_NE(std::strstr(owner, "libstdc++.so"), nullptr) << owner;
  EXPECT_EQ(find_behind(&here, "environ").address, nullptr);
  EXPECT_EQ(find_behind(&here, "cufault_no_such_function").address, nullptr);
}

TEST(LoadedSymbol, FindsWhatWasLoadedWithRtldLocal) {
  ASSERT_EQ(find_behind(&here, "victim_share").address, nullptr);
  void* const module = ::dlopen(VICTIM_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << ::dlerror();
  EXPECT_EQ(find_behind(&here, "victim_share").address, ::dlsym(module, "victim_share"));
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "victim_share"), nullptr);
  ::dlclose(module);
}

// A plan of two rules: one for every caller, one for victim modules.
struct with_plan {
  with_plan() {
    struct {
      cufault_libc_plan_header header{};
      cufault_libc_rule rules[2]{};
      char strings[32] = "\0/run\0one\0two\0*victim_module*";
    } file;
    std::memcpy(file.header.magic, CUFAULT_LIBC_PLAN_MAGIC, 8);
    file.header.version = CUFAULT_LIBC_PLAN_VERSION;
    file.header.header_size = sizeof file.header;
    file.header.file_size = sizeof file;
    file.header.run_folder = 1;
    file.header.rules_at = sizeof file.header;
    file.header.rule_count = 2;
    file.header.strings_at = sizeof file.header + sizeof file.rules;
    file.header.strings_size = sizeof file.strings;
    file.rules[0] = {6, CUFAULT_LIBC_MALLOC, 0, 0, 1, 1, 0, 0, 0, -1, 0, {}};
    file.rules[1] = {10, CUFAULT_LIBC_MALLOC, 14, 0, 1, 1, 0, 0, 0, -1, 0, {}};
    bytes.assign(reinterpret_cast<const char*>(&file), sizeof file);
    const std::uint64_t sum = plan_checksum(bytes.data(), bytes.size());
    std::memcpy(bytes.data() + offsetof(cufault_libc_plan_header, checksum), &sum, sizeof sum);
    process::message why;
    if (!read.read(bytes.data(), bytes.size(), why)) ADD_FAILURE() << why.view();
  }
  std::string bytes;
  plan read;
};

TEST(Modules, KnowsTheProgramTheLibcAndNothing) {
  const with_plan plan;
  modules all;
  ASSERT_TRUE(all.start(plan.read));
  module found;
  ASSERT_TRUE(all.find(&here, found));
  EXPECT_STREQ(found.name, "libc_process_test");
  EXPECT_EQ(found.rules, 1u);
  ASSERT_TRUE(all.find(::dlsym(RTLD_NEXT, "getppid"), found));
  EXPECT_STREQ(found.name, "libc.so.6");
  EXPECT_NE(found.base, 0u);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(all.find(page, found));
  EXPECT_STREQ(found.name, "");
  EXPECT_EQ(found.base, 0u);
  EXPECT_EQ(found.rules, 1u);
  ::munmap(page, 4096);
}

TEST(Modules, FollowsLoadsAndUnloads) {
  const with_plan plan;
  modules all;
  ASSERT_TRUE(all.start(plan.read));
  module found;
  for (int round = 0; round < 3; ++round) {
    void* const handle = ::dlopen(VICTIM_MODULE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << ::dlerror();
    const void* const function = ::dlsym(handle, "victim_malloc");
    ASSERT_TRUE(all.find(function, found));
    EXPECT_STREQ(found.name, "libvictim_module.so");
    EXPECT_EQ(found.rules, 3u);
    ::dlclose(handle);
    ASSERT_TRUE(all.find(function, found));
    EXPECT_STREQ(found.name, "") << "round " << round;
    EXPECT_EQ(found.rules, 1u);
  }
}

TEST(Modules, AnswersManyThreadsWhileModulesComeAndGo) {
  const with_plan plan;
  modules all;
  ASSERT_TRUE(all.start(plan.read));
  void* const kept = ::dlopen(VICTIM_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(kept, nullptr) << ::dlerror();
  const void* const function = ::dlsym(kept, "victim_malloc");
  std::vector<std::thread> running;
  for (int i = 0; i < 4; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < 2'000; ++round) {
        module found;
        EXPECT_TRUE(all.find(function, found));
        EXPECT_STREQ(found.name, "libvictim_module.so");
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    if (void* const other = ::dlopen(OTHER_MODULE, RTLD_NOW | RTLD_LOCAL)) ::dlclose(other);
  }
  for (std::thread& each : running) each.join();
  ::dlclose(kept);
}

}  // namespace
}  // namespace cufault::libc

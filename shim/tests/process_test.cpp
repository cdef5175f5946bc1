// SPDX-License-Identifier: Apache-2.0
// Small things that the shim stands on: bounded text, the mark that a fork clears, the loader's cache.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/loader_cache.h"
#include "process/lifetime.h"
#include "process/lock.h"
#include "process/modules.h"
#include "process/text.h"

namespace cufault::tests {
namespace {

TEST(Text, FormatsNumbersWithoutTheLibrary) {
  process::text<64> text;
  (text << 0u << " " << -5 << " " << std::uint64_t{18446744073709551615u} << " ").hex(0xc0ffee) << " ";
  EXPECT_STREQ(text.hex(0).c_str(), "0 -5 18446744073709551615 0xc0ffee 0x0");
}

TEST(Text, ThatDoesNotFitEndsInDots) {
  process::text<8> text;
  text << "1234567";
  EXPECT_FALSE(text.cut());
  text << "8";
  EXPECT_STREQ(text.c_str(), "1234...");
}

TEST(Lifetime, AForkedChildIsNotTheSameProcessUntilItRenews) {
  process::lifetime life;
  ASSERT_TRUE(life.begin());
  EXPECT_TRUE(life.same_process());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool told = !life.same_process();
    life.renew();
    ::_exit(told && life.same_process() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(life.same_process());
}

TEST(Lock, HeldByAParentsThreadDoesNotStopTheChild) {
  process::lock lock;
  lock.take();
  const pid_t child = ::fork();
  if (child == 0) {
    lock.take();
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Glob, StarIsAnyRunAndQuestionMarkOneLetter) {
  using process::matches_glob;
  EXPECT_TRUE(matches_glob("libtorch_cuda.so", "libtorch*"));
  EXPECT_TRUE(matches_glob("libtorch_cuda.so", "*cuda*.so"));
  EXPECT_TRUE(matches_glob("aXbXc", "a*X?"));
  EXPECT_TRUE(matches_glob("", "*"));
  EXPECT_FALSE(matches_glob("libtorch_cuda.so", "libtorch"));
  EXPECT_FALSE(matches_glob("libtorch_cuda.so", "?ibtorc"));
  EXPECT_FALSE(matches_glob("", "?"));
  EXPECT_TRUE(matches_glob("*", "*")) << "a star in the text is a letter";
  EXPECT_FALSE(matches_glob("ab", "a*c"));
}

/* A cache with these (flags, soname, file) entries, as ldconfig writes it. */
std::string cache(const std::vector<std::tuple<std::uint32_t, std::string, std::string>> &entries) {
  std::string head = "glibc-ld.so.cache1.1";
  const auto put = [](std::string &to, std::uint32_t number) { to.append(reinterpret_cast<const char *>(&number), 4); };
  std::string table, strings;
  const auto at = [&](const std::string &text) {
    const std::size_t here = 48 + entries.size() * 24 + strings.size();
    strings.append(text).push_back('\0');
    return static_cast<std::uint32_t>(here);
  };
  for (const auto &[flags, soname, file] : entries) {
    put(table, flags);
    put(table, at(soname));
    put(table, at(file));
    table.append(12, '\0');
  }
  put(head, static_cast<std::uint32_t>(entries.size()));
  put(head, static_cast<std::uint32_t>(strings.size()));
  head.append(20, '\0');
  return head + table + strings;
}

std::vector<std::string> found_in(const std::string &bytes) {
  std::vector<std::string> found;
  interpose::loader_cache(bytes.data(), bytes.size()).find("libcuda.so.1", [&](std::string_view file) {
    found.emplace_back(file);
    return false;
  });
  return found;
}

TEST(LoaderCache, GivesTheFilesOfASonameInItsOrder) {
  const std::string bytes = cache({{0x303, "libcuda.so.1", "/a/libcuda.so.1"}, {0x303, "libcudart.so", "/b"},
                                   {0x003, "libcuda.so.1", "/32-bit"}, {0x303, "libcuda.so.1", "/c/libcuda.so.1"}});
  EXPECT_EQ(found_in(bytes), (std::vector<std::string>{"/a/libcuda.so.1", "/c/libcuda.so.1"}));
  EXPECT_EQ(found_in(std::string(64, 'x') + bytes).size(), 2u) << "behind a table of the older format";
}

TEST(LoaderCache, CutAnywhereIsReadAsFarAsItGoes) {
  const std::string bytes = cache({{0x303, "libcuda.so.1", "/a/libcuda.so.1"}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<char> copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_LE(found_in(std::string(copy.begin(), copy.end())).size(), 1u);
  }
}

}  // namespace
}  // namespace cufault::tests

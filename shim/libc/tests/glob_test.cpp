// SPDX-License-Identifier: Apache-2.0
#include "libc/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cufault::libc {
namespace {

TEST(Glob, AgreesWithFnmatchOnEveryPairOfShortPatternsAndTexts) {
  const std::vector<std::string> patterns = {
      "",        "*",      "?",          "a",        "ab",    "a*",   "*a",   "*a*", "a?", "?a",    "**",
      "a*b*c",   "[ab]",   "[!a]",       "[^a]",     "[a-c]", "[a-]", "[]a]", "[a",  "a[", "[!]a]", "*[bc]",
      "lib*.so", "l*.so*", "*.so.[0-9]", "lib[!c]*", "a*a*a", "*?",   "?*",   "[",   "a]", "*ab"};
  const std::vector<std::string> texts = {"",      "a",      "b",    "ab", "ba", "abc",     "aab",       "aaa",
                                          "[a",    "a[",     "]",    "-",  "a-", "libc.so", "libc.so.6", "libfoo.so",
                                          "axbxc", "axbxcx", "abab", "a]", "[",  "!"};
  for (const std::string& pattern : patterns) {
    for (const std::string& text : texts) {
      EXPECT_EQ(glob_matches(pattern, text), ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0)
          << pattern << " on " << text;
    }
  }
}

TEST(Glob, IsQuickOnAPatternOfManyStars) {
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*b", std::string(20'000, 'a')));
}

}  // namespace
}  // namespace cufault::libc

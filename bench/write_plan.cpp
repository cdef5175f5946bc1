// SPDX-License-Identifier: Apache-2.0
// Writes the plan that the request on stdin describes; so a benchmark needs no Python package.
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "plan.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::string request{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    cufault::judge::write_plan(argv[1], request);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 3;
  }
}

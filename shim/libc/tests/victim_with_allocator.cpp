// SPDX-License-Identifier: Apache-2.0
// A program on victim_allocator: operator new fails in it although no malloc can.
#include <cstdio>

#include "victim_module.h"

extern "C" int victim_given_back(void);

int main() {
  const int before = victim_given_back();
  std::printf("new: %d\n", victim_ways[9].allocate(100));
  std::printf("new nothrow: %d\n", victim_ways[13].allocate(100));
  std::printf("given back: %d\n", victim_given_back() - before);
}

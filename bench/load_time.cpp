// SPDX-License-Identifier: Apache-2.0
// How long a program that never uses CUDA takes from start to end, for each value of LD_PRELOAD given.
//
//   bench_load_time ROUNDS PROGRAM NAME=LD_PRELOAD...
//
// Prints {"NAME": [nanoseconds, ...]}. The variants take turns, in an order that is another one in every round.
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

struct variant {
  std::string name;
  std::string preload;
  std::vector<long> took;
};

long time_program(const char* program, const std::string& preload) {
  std::string variable = "LD_PRELOAD=" + preload;
  char* environment[] = {preload.empty() ? nullptr : variable.data(), nullptr};
  char* arguments[] = {const_cast<char*>(program), nullptr};
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0 ||
      ::waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "bench: %s with %s ended with %d\n", program, variable.c_str(), status);
    std::exit(3);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::vector<variant> variants;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return 2;
    variants.push_back({word.substr(0, equals), word.substr(equals + 1), {}});
  }
  std::mt19937 random(1);
  for (int round = std::atoi(argv[1]); round > 0; --round) {
    std::vector<variant*> order;
    for (variant& each : variants) order.push_back(&each);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    for (variant* const each : order) each->took.push_back(time_program(argv[2], each->preload));
  }
  const char* between = "{";
  for (const variant& each : variants) {
    std::printf("%s\"%s\": [", between, each.name.c_str());
    for (std::size_t i = 0; i < each.took.size(); ++i) std::printf("%s%ld", i == 0 ? "" : ", ", each.took[i]);
    std::printf("]");
    between = ", ";
  }
  std::printf("}\n");
}

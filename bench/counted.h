/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark programs share: a benchmark that runs so often, and reports what one call took on its thread. */
#ifndef CUFAULT_BENCH_COUNTED_H
#define CUFAULT_BENCH_COUNTED_H

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace cufault::bench {

/* Google Benchmark divides the time of several threads in its own way; this counter is each thread's time for one call.
 */
template <class Call>
void time_calls(benchmark::State& state, Call call) {
  call();
  const auto begin = std::chrono::steady_clock::now();
  for ([[maybe_unused]] auto _ : state) call();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  state.counters["ns"] =
      benchmark::Counter(took.count() / static_cast<double>(state.iterations()), benchmark::Counter::kAvgThreads);
}

struct settings {
  benchmark::IterationCount iterations = 100'000;
  int repetitions = 11;
};

/* Repetitions of all benchmarks of a program are interleaved (run.py asks for it), so that each meets the same weather.
 */
template <class Body>
void add(const std::string& name, const settings& how, int threads, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Iterations(how.iterations)
      ->Repetitions(how.repetitions)
      ->Threads(threads)
      ->UseRealTime();
}

/* Takes "--name=value" out of the command line, or "" if it is not there. */
inline std::string take_option(int& argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, 2) != "--" || word.substr(2, name.size()) != name) continue;
    if (word.size() <= 2 + name.size() || word[2 + name.size()] != '=') continue;
    std::string value(word.substr(3 + name.size()));
    for (int j = i; j < argc; ++j) argv[j] = argv[j + 1];
    --argc;
    return value;
  }
  return "";
}

inline settings take_settings(int& argc, char** argv) {
  settings how;
  if (const std::string n = take_option(argc, argv, "iterations"); !n.empty()) how.iterations = std::atol(n.c_str());
  if (const std::string n = take_option(argc, argv, "repetitions"); !n.empty()) how.repetitions = std::atoi(n.c_str());
  return how;
}

inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

/* A benchmark cannot go on: one line on stderr, and no result that could be taken for one. */
[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(3);
}

}  // namespace cufault::bench

#endif

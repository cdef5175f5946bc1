// SPDX-License-Identifier: Apache-2.0
// What one driver call takes: straight at the driver, through whatever is preloaded, and with an empty CUPTI callback.
//
//   bench_calls --direct=DRIVER [--via=libcuda.so.1] [--cupti=libcupti.so] [--threads=1,2,4] [--iterations=N]
//
// Direct calls go to the file DRIVER, opened by its path; the others to what dlopen gives for the name. Both are
// measured in one process, in turn.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <vector>

#include "counted.h"

namespace {

using cufault::bench::give_up;
using cufault::bench::settings;

struct driver {
  decltype(&::cuInit) init;
  decltype(&::cuDevicePrimaryCtxRetain) retain;
  decltype(&::cuCtxSetCurrent) set_current;
  decltype(&::cuCtxGetCurrent) get_current;
  decltype(&::cuEventCreate) event_create;
  decltype(&::cuEventDestroy) event_destroy;
};

template <class Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (into == nullptr) give_up(std::string("no ") + name);
}

driver open_driver(const std::string& name) {
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(::dlerror());
  driver opened{};
  find(library, "cuInit", opened.init);
  find(library, "cuDevicePrimaryCtxRetain", opened.retain);
  find(library, "cuCtxSetCurrent", opened.set_current);
  find(library, "cuCtxGetCurrent", opened.get_current);
  find(library, "cuEventCreate", opened.event_create);
  find(library, "cuEventDestroy_v2", opened.event_destroy);
  return opened;
}

void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) give_up(std::string(call) + " answered " + std::to_string(result));
}

// The part of cupti_callbacks.h that an empty callback needs, so that the program builds without CUPTI.
class profiler {
 public:
  explicit profiler(const std::string& name) {
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) give_up(::dlerror());
    int (*subscribe)(void**, void (*)(void*, int, std::uint32_t, const void*), void*) = nullptr;
    find(library, "cuptiSubscribe", subscribe);
    find(library, "cuptiEnableDomain", enable_domain_);
    if (const int error = subscribe(&subscriber_, &callback, this)) {
      give_up("cuptiSubscribe answered " + std::to_string(error));
    }
  }
  void enable(bool on) const {
    constexpr int driver_api = 1;  // CUPTI_CB_DOMAIN_DRIVER_API
    if (const int error = enable_domain_(on ? 1 : 0, subscriber_, driver_api)) {
      give_up("cuptiEnableDomain answered " + std::to_string(error));
    }
  }
  [[nodiscard]] static std::uint64_t calls_seen() { return seen_; }

 private:
  // Empty but for a count, which shows that it was there.
  static void callback(void*, int, std::uint32_t, const void*) { ++seen_; }

  static inline thread_local std::uint64_t seen_ = 0;
  void* subscriber_ = nullptr;
  int (*enable_domain_)(std::uint32_t, void*, int) = nullptr;
};

void get_current(benchmark::State& state, const driver& by, const driver& direct, CUcontext context) {
  check(direct.set_current(context), "cuCtxSetCurrent");
  CUcontext current = nullptr;
  cufault::bench::time_calls(state, [&] {
    by.get_current(&current);
    benchmark::DoNotOptimize(current);
  });
  if (current != context) state.SkipWithError("cuCtxGetCurrent gave another context");
}

void create_and_destroy(benchmark::State& state, const driver& by, const driver& direct, CUcontext context) {
  check(direct.set_current(context), "cuCtxSetCurrent");
  CUresult worst = CUDA_SUCCESS;
  cufault::bench::time_calls(state, [&] {
    CUevent event = nullptr;
    const CUresult made = by.event_create(&event, CU_EVENT_DISABLE_TIMING);
    const CUresult gone = by.event_destroy(event);
    if (made != CUDA_SUCCESS || gone != CUDA_SUCCESS) worst = CUDA_ERROR_UNKNOWN;
  });
  if (worst != CUDA_SUCCESS) state.SkipWithError("an event could not be made or destroyed");
}

// On hardware an event takes some hundred times as long as cuCtxGetCurrent, and longer where threads meet.
settings fewer(settings how) {
  how.iterations = std::max<benchmark::IterationCount>(1, how.iterations / 20);
  return how;
}

void add_both(const std::string& mode, const settings& how, const std::vector<int>& threads, const driver& by,
              const driver& direct, CUcontext context) {
  for (const int count : threads) {
    cufault::bench::add(mode + "/cuCtxGetCurrent", how, count,
                        [=](benchmark::State& state) { get_current(state, by, direct, context); });
    cufault::bench::add(mode + "/cuEventCreate+cuEventDestroy", fewer(how), count,
                        [=](benchmark::State& state) { create_and_destroy(state, by, direct, context); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string direct_name = cufault::bench::take_option(argc, argv, "direct");
  const std::string via_name = cufault::bench::take_option(argc, argv, "via");
  const std::string cupti_name = cufault::bench::take_option(argc, argv, "cupti");
  const settings how = cufault::bench::take_settings(argc, argv);
  std::vector<int> threads;
  std::istringstream words(cufault::bench::take_option(argc, argv, "threads"));
  for (std::string word; std::getline(words, word, ',');) threads.push_back(std::atoi(word.c_str()));
  if (threads.empty()) threads.push_back(1);
  if (direct_name.empty() || (!via_name.empty() && !cupti_name.empty())) {
    give_up("--direct=DRIVER, and either --via or --cupti");
  }

  const driver direct = open_driver(direct_name);
  check(direct.init(0), "cuInit");
  CUcontext context = nullptr;
  check(direct.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  add_both("direct", how, threads, direct, direct, context);
  if (!via_name.empty()) {
    const driver via = open_driver(via_name);
    if (via.get_current == direct.get_current) give_up(via_name + " is the driver itself: nothing is preloaded");
    add_both("via", how, threads, via, direct, context);
  }
  if (!cupti_name.empty()) {
    // One thread only: the domain is switched on for the process.
    static const profiler cupti(cupti_name);
    const auto watched = [=](auto body) {
      return [=](benchmark::State& state) {
        cupti.enable(true);
        const std::uint64_t before = profiler::calls_seen();
        body(state, direct, direct, context);
        if (profiler::calls_seen() == before) state.SkipWithError("the callback was never called");
        cupti.enable(false);
      };
    };
    cufault::bench::add("cupti/cuCtxGetCurrent", how, 1, watched(get_current));
    cufault::bench::add("cupti/cuEventCreate+cuEventDestroy", fewer(how), 1, watched(create_and_destroy));
  }
  return cufault::bench::run(argc, argv);
}

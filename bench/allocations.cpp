// SPDX-License-Identifier: Apache-2.0
// What malloc and close take: straight at glibc by its internal name, and by the name that a preload stands in front
// of.
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "counted.h"

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void __libc_free(void* memory);

namespace {

void direct_malloc(benchmark::State& state) {
  cufault::bench::time_calls(state, [] {
    void* memory = __libc_malloc(64);
    benchmark::DoNotOptimize(memory);
    __libc_free(memory);
  });
}

void via_malloc(benchmark::State& state) {
  cufault::bench::time_calls(state, [] {
    void* memory = std::malloc(64);
    benchmark::DoNotOptimize(memory);
    std::free(memory);
  });
}

void direct_close(benchmark::State& state) {
  cufault::bench::time_calls(state, [] { ::syscall(SYS_close, -1); });
}

void via_close(benchmark::State& state) {
  cufault::bench::time_calls(state, [] { ::close(-1); });
}

}  // namespace

int main(int argc, char** argv) {
  const cufault::bench::settings how = cufault::bench::take_settings(argc, argv);
  cufault::bench::add("direct/malloc+free", how, 1, direct_malloc);
  cufault::bench::add("via/malloc+free", how, 1, via_malloc);
  cufault::bench::add("direct/close", how, 1, direct_close);
  cufault::bench::add("via/close", how, 1, via_close);
  return cufault::bench::run(argc, argv);
}

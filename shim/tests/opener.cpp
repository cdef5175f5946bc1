// SPDX-License-Identifier: Apache-2.0
// A program that is not linked against a driver: it opens the library that it is told, in the way that it is told.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

const std::map<std::string, int> ways = {
    {"local", RTLD_NOW | RTLD_LOCAL},
    {"lazy-global", RTLD_LAZY | RTLD_GLOBAL},
    {"deepbind", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND},
};

}  // namespace

// opener WAY LIBRARY: prints what cuCtxSynchronize answers, called as dlsym gives it and as cuGetProcAddress_v2 does.
int main(int argc, char **argv) {
  if (argc != 3) return 93;
  void *library = nullptr;
  if (std::string(argv[1]) == "namespace") {
    library = ::dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW | RTLD_LOCAL);
  } else {
    library = ::dlopen(argv[2], ways.at(argv[1]));
  }
  if (library == nullptr) {
    std::fprintf(stderr, "opener: %s\n", ::dlerror());
    return 95;
  }
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(library, "cuInit"));
  const auto look_up = reinterpret_cast<int (*)(const char *, void **, int, unsigned long, int *)>(::dlsym(library, "cuGetProcAddress_v2"));
  const auto sync = reinterpret_cast<int (*)()>(::dlsym(library, "cuCtxSynchronize"));
  if (init == nullptr || look_up == nullptr || sync == nullptr) return 96;
  std::printf("cuInit=%d\n", init(0));
  std::printf("by dlsym=%d\n", sync());
  void *found = nullptr;
  look_up("cuCtxSynchronize", &found, 13000, 0, nullptr);
  if (found == nullptr) return 98;
  std::printf("by cuGetProcAddress=%d\n", reinterpret_cast<int (*)()>(found)());
  return 0;
}

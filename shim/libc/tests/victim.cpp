// SPDX-License-Identifier: Apache-2.0
// A program that uses victim_module and says what became of it; the preload tests start it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "victim_module.h"

namespace {

using arguments = std::vector<std::string>;

int number(const arguments& words, size_t index) { return std::stoi(words.at(index)); }

// Every way to allocate, once: name, and 0 or what it answered.
void ways(const arguments&) {
  for (size_t i = 0; i < victim_way_count; ++i)
    std::printf("%s: %d\n", victim_ways[i].name, victim_ways[i].allocate(100));
}

// N mallocs of the module: which failed.
void mallocs(const arguments& words) {
  for (int i = 1; i <= number(words, 0); ++i) {
    if (victim_malloc(static_cast<size_t>(i)) != 0) std::printf("failed: %d\n", i);
  }
}

void objects(const arguments&) {
  const int careless = victim_make_careless();
  std::printf("careless: %d, live: %d\n", careless, victim_live_objects());
  const int careful = victim_make_careful();
  std::printf("careful: %d, live: %d\n", careful, victim_live_objects());
}

void containers(const arguments& words) {
  std::printf("vector: %d\n", victim_grow_vector(number(words, 0)));
  std::printf("shared: %d\n", victim_share());
  std::printf("regrow: %d\n", victim_regrow());
}

int handled = 0;

void handler(const arguments&) {
  std::set_new_handler([] {
    ++handled;
    std::set_new_handler(nullptr);
  });
  const int answer = victim_ways[9].allocate(100);
  std::printf("answer: %d, handled: %d\n", answer, handled);
}

void threads(const arguments& words) {
  const int count = number(words, 1);
  std::vector<int> failed(static_cast<size_t>(number(words, 0)));
  std::vector<std::thread> running;
  for (int& mine : failed) {
    running.emplace_back([&mine, count] {
      for (int i = 0; i < count; ++i) mine += victim_malloc(8) != 0 ? 1 : 0;
    });
  }
  int all = 0;
  for (std::thread& each : running) each.join();
  for (const int each : failed) all += each;
  std::printf("failed: %d\n", all);
}

void forks(const arguments&) {
  const auto say = [](const char* who) {
    errno = 77;
    const bool first = victim_malloc(8) == 0 && errno == 77;
    std::printf("%s kept errno: %d\n", who, first ? 1 : 0);
    for (int i = 2; i <= 3; ++i) {
      if (victim_malloc(8) != 0) std::printf("%s failed: %d\n", who, i);
    }
    std::fflush(stdout);
  };
  say("parent");
  const pid_t child = ::fork();
  if (child == 0) {
    say("child");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

void killed(const arguments&) {
  victim_malloc(8);
  victim_malloc(8);
  ::raise(SIGKILL);
}

void closes(const arguments& words) {
  const int descriptor = ::dup2(::open("/dev/null", O_RDONLY), number(words, 0));
  for (int i = 1; i <= 3; ++i) {
    errno = 0;
    const int answer = victim_close(descriptor);
    const int error = errno;
    std::printf("close: %d, errno: %d, open: %d\n", answer, error, ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0);
  }
}

void keeps_errno(const arguments&) {
  errno = 77;
  const int answer = victim_malloc(8);
  std::printf("answer: %d, errno: %d\n", answer, errno);
}

// Loads and unloads each of the modules named, in turn; each makes three mallocs.
void reloads(const arguments& words) {
  for (const std::string& path : words) {
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      std::printf("%s\n", ::dlerror());
      std::exit(1);
    }
    auto* const allocate = reinterpret_cast<int (*)(size_t)>(::dlsym(module, "victim_malloc"));
    int failed = 0;
    for (int i = 0; i < 3; ++i) failed += allocate(8) != 0 ? 1 : 0;
    const char* const name = std::strrchr(path.c_str(), '/') + 1;
    std::printf("%s at %p failed: %d\n", name, reinterpret_cast<void*>(allocate), failed);
    ::dlclose(module);
  }
}

void nothing(const arguments&) {}

struct command {
  const char* name;
  void (*run)(const arguments& words);
};

constexpr command commands[] = {
    {"ways", ways},       {"mallocs", mallocs},   {"objects", objects}, {"containers", containers},
    {"handler", handler}, {"threads", threads},   {"forks", forks},     {"killed", killed},
    {"closes", closes},   {"errno", keeps_errno}, {"reloads", reloads}, {"nothing", nothing},
};

}  // namespace

int main(int argc, char** argv) {
  for (const command& each : commands) {
    if (argc > 1 && std::strcmp(each.name, argv[1]) == 0) {
      each.run(arguments(argv + 2, argv + argc));
      return 0;
    }
  }
  std::fprintf(stderr, "no such command\n");
  return 2;
}

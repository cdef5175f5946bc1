// SPDX-License-Identifier: Apache-2.0
// The program under test, linked against libcuda.so.1: each argument names something that it does, in order.
#include "victim.h"

#include "cufault/control_page.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <vector>

using namespace cufault::tests;

extern char **environ;

// What a plan's effect `callback` calls, by its exported name.
extern "C" __attribute__((visibility("default"))) void victim_called_back(const char *symbol);
void victim_called_back(const char *symbol) {
  std::printf("called back at %s\n", symbol);
  std::printf("inside=%d\n", cuCtxSynchronize());
}

namespace {

constexpr std::uint64_t other_context = 0xdead0;

CUstream stream = nullptr;
std::vector<char *> rest; /* arguments that are not done yet */

void print(const char *what, long long value) { std::printf("%s=%lld\n", what, value); }
void print_result(const char *what, CUresult result) { print(what, result); }

void make_stream() { print_result("cuStreamCreate", cuStreamCreate(&stream, 0)); }
void destroy_stream() { print_result("cuStreamDestroy", cuStreamDestroy(stream)); }

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fork_child() {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    print_result("child", cuCtxSynchronize());
    std::fflush(stdout);
    std::exit(0);
  }
  print("child status", wait_for(child));
}

void fork_idle_child() {
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  print("child status", wait_for(child));
}

void spawn(bool by_vfork) {
  std::fflush(stdout);
  char self[] = "/proc/self/exe", what[] = "sync";
  char *const arguments[] = {self, what, nullptr};
  pid_t child = 0;
  if (by_vfork) {
    child = ::vfork();
    if (child == 0) {
      ::execve("/proc/self/exe", arguments, environ);
      ::_exit(91);
    }
  } else {
    ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
  }
  print("child status", wait_for(child));
}

void sync_on_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 50; ++k) {
        if (cuCtxSynchronize() != CUDA_SUCCESS) print("failed", k);
      }
    });
  }
  for (std::thread &each : threads) each.join();
}

void many_threads() {
  for (int i = 0; i < 500; ++i) std::thread([] { cuCtxSynchronize(); }).join();
  print("calls", static_cast<long long>(control<decltype(cufault_calls)>("cufault_calls")()));
}

// Driver calls from the last destructor of a thread and of the program.
void late_calls() {
  pthread_key_t key{};
  ::pthread_key_create(&key, [](void *) { print_result("thread destructor", cuCtxSynchronize()); });
  std::thread([&] { ::pthread_setspecific(key, &key); }).join();
  std::atexit([] { print_result("exit handler", cuCtxSynchronize()); });
}

void inside_callback(void *) { print_result("nested", cuStreamQuery(nullptr)); }
void call_back() {
  cuInit(0);
  function_in<decltype(standin_call_back)>(standin(), "standin_call_back")("cuStreamSynchronize", inside_callback, nullptr);
  print_result("cuStreamSynchronize", cuStreamSynchronize(nullptr));
}

void fork_in_callback(void *) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) print_result("in child", cuStreamQuery(nullptr));
  if (child != 0) print("child status", wait_for(child));
}
void fork_inside() {
  cuInit(0);
  function_in<decltype(standin_call_back)>(standin(), "standin_call_back")("cuStreamSynchronize", fork_in_callback, nullptr);
  print_result("cuStreamSynchronize", cuStreamSynchronize(nullptr));
}

void set_errno(void *) { errno = 5; }
void check_errno() {
  errno = 77;
  cuInit(0);
  print("errno after the first call", errno);
  errno = 78;
  cuCtxSetCurrent(nullptr);
  print("errno after a switch", errno);
  function_in<decltype(standin_call_back)>(standin(), "standin_call_back")("cuCtxSynchronize", set_errno, nullptr);
  cuCtxSynchronize();
  print("errno that the driver set", errno);
}

// What a look-up hands out for each historic way of asking.
void look_up() {
  void *pointer = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  using four = CUresult(const char *, void **, int, cuuint64_t);
  using five = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto *const old_way = function_in<four>(RTLD_DEFAULT, "cuGetProcAddress");
  auto *const new_way = function_in<five>(RTLD_DEFAULT, "cuGetProcAddress_v2");
  const auto ours = [&](const char *symbol) { return pointer == ::dlsym(RTLD_DEFAULT, symbol); };
  print_result("new", new_way("cuStreamDestroy", &pointer, 13000, 0, &status));
  print("is cuStreamDestroy_v2", ours("cuStreamDestroy_v2"));
  print("status", status);
  print_result("null status", new_way("cuStreamDestroy", &pointer, 13000, 0, nullptr));
  print_result("old", old_way("cuStreamDestroy", &pointer, 11030, 0));
  print("is cuStreamDestroy_v2", ours("cuStreamDestroy_v2"));
  print_result("itself at 11030", new_way("cuGetProcAddress", &pointer, 11030, 0, &status));
  print("is cuGetProcAddress", ours("cuGetProcAddress"));
  print_result("itself at 12000", new_way("cuGetProcAddress", &pointer, 12000, 0, &status));
  print("is cuGetProcAddress_v2", ours("cuGetProcAddress_v2"));
  print_result("unknown", new_way("cuNoSuchFunction", &pointer, 13000, 0, &status));
  print("is null", pointer == nullptr);
  print("status", status);
  print_result("unknown, old", old_way("cuNoSuchFunction", &pointer, 11030, 0));
}

void enter_and_restore() {
  CUcontext primary = nullptr;
  cuDevicePrimaryCtxRetain(&primary, 0);
  cuCtxSetCurrent(primary);
  control<decltype(cufault_step_begin)>("cufault_step_begin")("switch");
  print_result("enter", cuCtxSetCurrent(reinterpret_cast<CUcontext>(other_context)));
  print_result("restore", cuCtxSetCurrent(primary));
  control<decltype(cufault_step_end)>("cufault_step_end")();
}

void steps() {
  auto *const begin = control<decltype(cufault_step_begin)>("cufault_step_begin");
  auto *const end = control<decltype(cufault_step_end)>("cufault_step_end");
  print("version", control<decltype(cufault_control_version)>("cufault_control_version")());
  print("active", control<decltype(cufault_active)>("cufault_active")());
  print("end without begin", end());
  print("begin", begin("make"));
  print("begin twice", begin("make"));
  make_stream();
  print("end", end());
  print("begin own", begin("of its own"));
  print("name", control<decltype(cufault_name_handle)>("cufault_name_handle")("stream", 0x77, "by hand"));
  print("name of no kind", control<decltype(cufault_name_handle)>("cufault_name_handle")("cat", 0x77, "by hand"));
  print("end own", end());
  destroy_stream();
  print("fired", static_cast<long long>(control<decltype(cufault_fired)>("cufault_fired")("rule 1")));
  print("matched", static_cast<long long>(control<decltype(cufault_matched)>("cufault_matched")("rule 1")));
  print("fired, unknown", static_cast<long long>(control<decltype(cufault_fired)>("cufault_fired")("no such")));
  print("arm unknown", control<decltype(cufault_arm)>("cufault_arm")("no such", 0));
  print("note", control<decltype(cufault_note)>("cufault_note")("hello"));
  print("calls", static_cast<long long>(control<decltype(cufault_calls)>("cufault_calls")()));
}

void disarm() {
  auto *const arm = control<decltype(cufault_arm)>("cufault_arm");
  print("disarm", arm("rule 1", 0));
  print_result("cuCtxSynchronize", cuCtxSynchronize());
  print("arm", arm("rule 1", 1));
  print_result("cuCtxSynchronize", cuCtxSynchronize());
}

// As another process would, of which this one knows no more than its plan's folder.
void disarm_by_file() {
  std::string plan = std::getenv("CUFAULT_PLAN");
  const std::string page = plan.substr(0, plan.rfind('/')) + "/control." + std::to_string(::getpid());
  const int file = ::open(page.c_str(), O_RDWR);
  const std::uint32_t disarmed = 1;
  const auto at = static_cast<off_t>(sizeof(cufault_control_page) + offsetof(cufault_control_rule, disarmed));
  if (::pwrite(file, &disarmed, sizeof disarmed, at) != sizeof disarmed) std::exit(94);
  ::close(file);
}

void exec_self() {
  std::fflush(stdout);
  std::vector<char *> arguments = rest;
  arguments.insert(arguments.begin(), const_cast<char *>("/proc/self/exe"));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  std::exit(92);
}

void clear_environment() {
  // The stand-in's place is the test's own knowledge, not the shim's.
  const std::string place = std::getenv("STANDIN") == nullptr ? "" : std::getenv("STANDIN");
  ::clearenv();
  ::setenv("STANDIN", place.c_str(), 1);
}

void export_table() {
  const void *table = nullptr;
  CUuuid id{};
  for (int i = 0; i < 16; ++i) id.bytes[i] = static_cast<char>(i * 17);
  print_result("cuGetExportTable", cuGetExportTable(&table, &id));
}

void make_context() {
  CUcontext context = nullptr;
  print_result("cuCtxCreate", cuCtxCreate_v4(&context, nullptr, 0, 0));
}

// Whatever hangs is ended by a signal.
void alarm_soon() {
  const itimerval soon{{0, 0}, {0, 50'000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
}

void absent() {
  print_result("cuEGLApiInit", function_in<CUresult()>(RTLD_DEFAULT, "cuEGLApiInit")());
}

void die() {
  cuCtxSynchronize();
  ::kill(::getpid(), SIGKILL);
}

void die_inside() {
  cuInit(0);
  function_in<decltype(standin_call_back)>(standin(), "standin_call_back")(
      "cuStreamSynchronize", [](void *) { ::kill(::getpid(), SIGKILL); }, nullptr);
  cuStreamSynchronize(nullptr);
}

// As many children as the next argument says; each makes calls and counts those that came back, until it is killed.
void killed_children() {
  const int wanted = std::atoi(rest.front());
  auto *const returned = static_cast<std::atomic<std::uint64_t> *>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::FILE *const counts = std::fopen(std::getenv("VICTIM_COUNTS"), "w");
  std::mt19937 random(1);
  for (int i = 0; i < wanted; ++i) {
    returned->store(0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        cuCtxSynchronize();
        returned->fetch_add(1);
      }
    }
    // It has begun; then anything between at once and some segments later.
    while (returned->load() == 0) ::sched_yield();
    const std::uint64_t until = returned->load() + random() % 100;
    while (returned->load() < until) ::sched_yield();
    for (std::atomic<std::uint64_t> spin = random() % 2000; spin != 0; --spin) {
    }
    ::kill(child, SIGKILL);
    wait_for(child);
    std::fprintf(counts, "%d %llu\n", child, static_cast<unsigned long long>(returned->load()));
  }
  std::fclose(counts);
  std::exit(0);
}

const std::map<std::string, std::function<void()>> acts = {
    {"init", [] { print_result("cuInit", cuInit(0)); }},
    {"sync", [] { print_result("cuCtxSynchronize", cuCtxSynchronize()); }},
    {"make", make_stream},
    {"destroy", destroy_stream},
    {"counted", [] {
       print("driver's cuStreamDestroy_v2", static_cast<long long>(standin_calls_of("cuStreamDestroy_v2")));
       print("driver's cuCtxSynchronize", static_cast<long long>(standin_calls_of("cuCtxSynchronize")));
     }},
    {"fork", fork_child},
    {"fork-idle", fork_idle_child},
    {"vfork", [] { spawn(true); }},
    {"posix-spawn", [] { spawn(false); }},
    {"exec", exec_self},
    {"threads", sync_on_threads},
    {"many-threads", many_threads},
    {"late", late_calls},
    {"call-back", call_back},
    {"host-function", [] {
       const auto function = [](void *) { print_result("on the driver's thread", cuStreamQuery(nullptr)); };
       print_result("cuLaunchHostFunc", cuLaunchHostFunc(nullptr, function, nullptr));
     }},
    {"fork-inside", fork_inside},
    {"errno", check_errno},
    {"look-up", look_up},
    {"switch", enter_and_restore},
    {"steps", steps},
    {"disarm", disarm},
    {"disarm-by-file", disarm_by_file},
    {"clear-environment", clear_environment},
    {"export-table", export_table},
    {"absent", absent},
    {"make-context", make_context},
    {"retain", [] {
       CUcontext primary = nullptr;
       cuDevicePrimaryCtxRetain(&primary, 1);
       cuCtxSetCurrent(primary);
     }},
    {"alarm", alarm_soon},
    {"retain-0", [] {
       CUcontext primary = nullptr;
       cuDevicePrimaryCtxRetain(&primary, 0);
       cuCtxSetCurrent(primary);
     }},
    {"allocate", [] {
       CUdeviceptr memory = 0;
       print_result("cuMemAlloc", cuMemAlloc(&memory, 64));
     }},
    {"ended", [] {
       print("driver's cuCtxDestroy_v2", static_cast<long long>(standin_calls_of("cuCtxDestroy_v2")));
       print("driver's cuDevicePrimaryCtxReset_v2", static_cast<long long>(standin_calls_of("cuDevicePrimaryCtxReset_v2")));
     }},
    {"killed-children", killed_children},
    {"die", die},
    {"die-inside", die_inside},
};

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const auto act = acts.find(argv[i]);
    if (act == acts.end()) return 93;
    rest.assign(argv + i + 1, argv + argc);
    act->second();
  }
  return 0;
}

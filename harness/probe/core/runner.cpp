// SPDX-License-Identifier: Apache-2.0
// Processes: one per case, forked before any driver is open.
#include "core/runner.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <map>

#include "core/driver.h"
#include "core/recorder.h"

namespace probe {
namespace {

// What a case wrote: an anonymous file, whose one offset all processes of the case share.
class Notes {
 public:
  Notes() : descriptor_(memfd_create("rows", 0)) {}
  ~Notes() { close(descriptor_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  void forget() const {
    if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0) std::abort();
  }

  [[nodiscard]] std::string read() const {
    std::string all;
    std::array<char, 65536> part{};
    off_t at = 0;
    for (ssize_t n = 0; (n = pread(descriptor_, part.data(), part.size(), at)) > 0; at += n)
      all.append(part.data(), static_cast<std::size_t>(n));
    return all;
  }

 private:
  int descriptor_;
};

struct Machine {
  int driver_version = 0;
  int devices = 0;
  std::array<char, 128> name{};
  std::array<char, 256> problem{};
};

template <class T>
T* shared(std::size_t count) {
  void* memory = mmap(nullptr, sizeof(T) * count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) T[count];
}

// Asks the driver in a process of its own, because a process that has initialised it cannot fork cases.
void describe(const Settings& settings, Machine& machine) {
  if (const pid_t child = fork(); child > 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  const std::string problem = driver::open(settings.driver, settings.simulated_devices);
  if (problem.empty()) {
    cuDriverGetVersion(&machine.driver_version);
    if (cuInit(0) == CUDA_SUCCESS) cuDeviceGetCount(&machine.devices);
    if (machine.devices > 0) cuDeviceGetName(machine.name.data(), static_cast<int>(machine.name.size()), 0);
  }
  problem.copy(machine.problem.data(), machine.problem.size() - 1);
  _exit(0);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", std::gmtime(&now));
  return text.data();
}

class Run {
 public:
  Run(const std::vector<Case>& cases, const Settings& settings, std::FILE* out)
      : cases_(cases), settings_(settings), out_(out), states_(cases.size()), progress_(shared<Progress>(cases.size())) {}

  void all(int devices) {
    std::size_t next = 0;
    std::size_t printed = 0;
    while (printed < cases_.size()) {
      while (running_.size() < settings_.jobs && next < cases_.size()) {
        if (cases_[next].devices <= static_cast<unsigned>(devices)) {
          start(next);
        } else {
          states_[next].done = true;
          states_[next].remark = "# " + cases_[next].name + ": not run, it needs " + std::to_string(cases_[next].devices) + " device(s)\n";
        }
        ++next;
      }
      if (!running_.empty()) wait_for_one();
      for (; printed < cases_.size() && states_[printed].done; ++printed) print(printed);
    }
  }

 private:
  struct State {
    Notes notes;
    bool done = false;
    std::string end;     // how the process ended, unless it ended well
    std::string remark;  // instead of rows
  };

  void start(std::size_t index) {
    std::fflush(nullptr);
    progress_[index].row = 0;
    progress_[index].inside = false;
    states_[index].notes.forget();
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child > 0) {
      running_[child] = index;
      return;
    }
    alarm(settings_.timeout_s);
    if (!driver::open(settings_.driver, settings_.simulated_devices).empty() || chdir("/tmp") != 0) _exit(9);
    start_recording(progress_[index], states_[index].notes.descriptor());
    cases_[index].body();
    _exit(0);
  }

  void wait_for_one() {
    int status = 0;
    const auto found = running_.find(wait(&status));
    if (found == running_.end()) return;
    const std::size_t index = found->second;
    running_.erase(found);
    if (WIFSIGNALED(status)) {
      if (start_again(index, WTERMSIG(status))) return;
      states_[index].end = "signal " + std::to_string(WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
      states_[index].end = "exit " + std::to_string(WEXITSTATUS(status));
    }
    states_[index].done = true;
  }

  bool start_again(std::size_t index, int signal) {
    Progress& at = progress_[index];
    if (cases_[index].rows != Rows::independent || !at.inside || at.death_count == Progress::room) return false;
    at.deaths[at.death_count++] = {at.row, signal};
    start(index);
    return true;
  }

  void print(std::size_t index) {
    State& state = states_[index];
    std::fputs(state.remark.c_str(), out_);
    int step = 0;
    std::string rows = state.notes.read();
    if (!state.end.empty()) rows += "PROCESS\t" + state.end + "\n";
    for (std::size_t at = 0; at < rows.size();) {
      const std::size_t end = rows.find('\n', at);
      std::fprintf(out_, "%s\t%d\t%.*s\n", cases_[index].name.c_str(), ++step, static_cast<int>(end - at),
                   rows.c_str() + at);
      at = end + 1;
    }
    std::fflush(out_);
  }

  const std::vector<Case>& cases_;
  const Settings& settings_;
  std::FILE* out_;
  std::vector<State> states_;
  Progress* progress_;
  std::map<pid_t, std::size_t> running_;
};

}  // namespace

std::string run(const std::vector<Case>& cases, const Settings& settings, std::FILE* out) {
  signal(SIGPIPE, SIG_IGN);  // a case whose other process has died reports that by its rows
  Machine& machine = *shared<Machine>(1);
  describe(settings, machine);
  if (machine.problem[0] != 0) return machine.problem.data();
  std::fprintf(out, "# driver: %s\n# API version: %d\n# device: %s (%d in the machine)\n# date: %s\n",
               settings.driver.c_str(), machine.driver_version, machine.name.data(), machine.devices, today().c_str());
  std::fprintf(out, "# case\tstep\tcall\tanswer. One process per case, steps in order. 'PROCESS call': it ended the "
                    "process, and the case went on without it in a new one. 'PROCESS': the case ended there.\n");
  Run(cases, settings, out).all(machine.devices);
  return "";
}

}  // namespace probe

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program under the shim and keeps what came of it. */
#ifndef CUFAULT_TESTS_PROGRAM_H
#define CUFAULT_TESTS_PROGRAM_H

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "plan_builder.h"
#include "trace_reading.h"

extern char **environ;

namespace cufault::tests {

/* Where the build put things; the meson files pass these. */
inline std::string from_environment(const char *name) {
  const char *const value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string("the test needs ") + name);
  return value;
}

/* What LD_PRELOAD says to have the shim loaded. */
inline std::string preload_of_the_shim() {
  const std::string runtime = from_environment("SANITIZER_RUNTIME");
  return (runtime.empty() ? "" : runtime + ":") + from_environment("SHIM");
}

struct outcome {
  int status = 0; /* exit status, or 128 + signal */
  std::string out;
  std::string err;
  /* The value that the victim printed as `what`=value, the n-th such line. */
  [[nodiscard]] long long printed(const std::string &what, int nth = 1) const {
    std::size_t at = 0;
    const std::string wanted = what + "=";
    while ((at = out.find(wanted, at)) != std::string::npos) {
      if ((at == 0 || out[at - 1] == '\n') && --nth == 0) return std::stoll(out.substr(at + wanted.size()));
      ++at;
    }
    throw std::runtime_error("it did not print " + what + ":\n" + out + err);
  }
};

/* One program run: variables on top of a bare environment, output into files of its own folder. */
class program {
 public:
  std::map<std::string, std::string> variables;

  [[nodiscard]] outcome run(const std::vector<std::string> &command) const {
    const std::string out = (folder_.path() / "stdout").string(), err = (folder_.path() / "stderr").string();
    std::vector<std::string> settings;
    for (const auto &[name, value] : variables) settings.push_back(name + "=" + value);
    std::vector<char *> arguments, environment;
    for (const std::string &each : command) arguments.push_back(const_cast<char *>(each.c_str()));
    for (const std::string &each : settings) environment.push_back(const_cast<char *>(each.c_str()));
    // A sanitizer's own options, and where coverage goes, must reach the program too.
    for (char **each = environ; *each != nullptr; ++each) {
      const std::string_view name = *each;
      if (name.find("SAN_OPTIONS=") != std::string_view::npos) environment.push_back(*each);
    }
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      ::execve(arguments[0], arguments.data(), environment.data());
      ::_exit(94);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), file_bytes(out), file_bytes(err)};
  }

 private:
  temporary_folder folder_;
};

/* A run under the shim: its plan, its folder, the stand-in as the driver. */
class shim_run {
 public:
  plan_builder plan;
  program under;

  explicit shim_run(const std::filesystem::path &in = std::filesystem::temp_directory_path()) : folder_(in) {
    const std::string standin = from_environment("STANDIN");
    plan.header.backend = CUFAULT_BACKEND_PATH;
    plan.header.backend_path = plan.string(standin);
    plan.header.run_folder = plan.string(folder_.path().string());
    plan.header.flags = CUFAULT_PLAN_TRACE;
    under.variables["LD_PRELOAD"] = preload_of_the_shim();
    under.variables["STANDIN"] = standin;
    under.variables["CUFAULT_PLAN"] = plan_file();
  }
  [[nodiscard]] std::string plan_file() const { return (folder_.path() / "plan").string(); }
  [[nodiscard]] const std::filesystem::path &folder() const { return folder_.path(); }

  [[nodiscard]] outcome run(const std::vector<std::string> &command) const {
    plan.write(plan_file());
    return under.run(command);
  }
  /* The program of victim.cpp, doing these things. */
  [[nodiscard]] outcome victim(std::vector<std::string> acts) const {
    acts.insert(acts.begin(), from_environment("VICTIM"));
    return run(acts);
  }
  [[nodiscard]] run_trace trace() const { return read_run(folder_.path()); }

 private:
  temporary_folder folder_;
};

}  // namespace cufault::tests

#endif

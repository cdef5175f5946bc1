// SPDX-License-Identifier: Apache-2.0
// The plan's bytes, copied: a file that shrinks under a mapping would kill the program.
#include "plan_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "process/memory.h"

namespace cufault::interpose {
namespace {

constexpr std::size_t most_of_a_plan = std::size_t{1} << 30;

// /proc/self/environ is what exec was given, whatever the program has done to its copy.
class initial_environment {
 public:
  [[nodiscard]] bool find(std::string_view variable, path &value) noexcept {
    const int file = ::open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char buffer[4096];
    state now = state::name;
    std::size_t matched = 0;
    bool found = false;
    ssize_t got = 0;
    while (!found && (got = ::read(file, buffer, sizeof buffer)) > 0) {
      for (ssize_t i = 0; i < got && !found; ++i) {
        const char letter = buffer[i];
        if (letter == '\0') {
          found = now == state::value;
          now = state::name;
          matched = 0;
        } else if (now == state::value) {
          value << std::string_view(&letter, 1);
        } else if (now == state::name) {
          const bool ends = matched == variable.size();
          if (letter == (ends ? '=' : variable[matched])) {
            now = ends ? state::value : state::name;
            ++matched;
          } else {
            now = state::skip;
          }
        }
      }
    }
    ::close(file);
    return found;
  }

 private:
  enum class state { name, value, skip };
};

bool read_all(int file, char *into, std::size_t size) noexcept {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file, into + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool read_plan_file(plan_file &into, process::message &why) noexcept {
  const char *const value = ::getenv(CUFAULT_PLAN_VARIABLE);
  if (value != nullptr) {
    into.path << value;
  } else if (!initial_environment().find(CUFAULT_PLAN_VARIABLE, into.path)) {
    return true;
  }
  if (into.path.size() == 0) return true;
  const int file = ::open(into.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    why << std::strerror(errno);
    return false;
  }
  struct statx about {};
  const bool known = ::statx(file, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &about) == 0;
  const std::size_t size = known ? about.stx_size : 0;
  bool good = known && S_ISREG(about.stx_mode);
  if (!good) {
    why << "it is no regular file";
  } else if (size == 0 || size > most_of_a_plan) {
    why << "it has " << std::uint64_t{size} << " bytes";
    good = false;
  } else {
    auto *const bytes = static_cast<char *>(process::map_pages(size));
    good = bytes != nullptr && read_all(file, bytes, size);
    if (!good) why << "it cannot be read whole";
    into.bytes = bytes;
    into.size = size;
  }
  ::close(file);
  return good;
}

}  // namespace cufault::interpose

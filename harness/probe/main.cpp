// SPDX-License-Identifier: Apache-2.0
// Command line of the probe.
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cases/cases.h"
#include "core/runner.h"
#include "sequence/sequence.h"

namespace {

constexpr const char* usage =
    "usage: probe [--list] [--case GLOB]... [--seed FIRST-LAST] [--driver PATH] [--out FILE]\n"
    "             [--jobs N] [--timeout SECONDS] [--simulated-devices N]\n"
    "Makes the calls of every case (with --seed: of the random sequences of these seeds) and writes what they answered.\n"
    "  --list               name the cases and leave\n"
    "  --case GLOB          only these cases\n"
    "  --driver PATH        the driver to examine (libcuda.so.1)\n"
    "  --out FILE           where the rows go (standard output)\n"
    "  --jobs N             so many cases at a time (1)\n"
    "  --timeout SECONDS    a case that takes longer is ended (20)\n"
    "  --simulated-devices  how many devices a simulated driver has (1)\n";

struct Arguments {
  probe::Settings settings;
  std::vector<std::string> patterns;
  std::string out;
  unsigned first_seed = 0;
  unsigned last_seed = 0;
  bool list = false;
};

bool read_number(std::string_view text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_seeds(std::string_view text, Arguments& into) {
  const std::size_t dash = text.find('-');
  const bool one = dash == std::string_view::npos;
  return read_number(text.substr(0, dash), into.first_seed) &&
         read_number(one ? text : text.substr(dash + 1), into.last_seed) && into.first_seed > 0;
}

std::optional<Arguments> read_arguments(int count, char** words) {
  Arguments read;
  for (int i = 1; i < count; i++) {
    const std::string_view option = words[i];
    if (option == "--list") {
      read.list = true;
      continue;
    }
    if (++i == count) return std::nullopt;
    const std::string_view operand = words[i];
    bool good = true;
    if (option == "--case") read.patterns.emplace_back(operand);
    else if (option == "--driver") read.settings.driver = operand;
    else if (option == "--out") read.out = operand;
    else if (option == "--seed") good = read_seeds(operand, read);
    else if (option == "--jobs") good = read_number(operand, read.settings.jobs) && read.settings.jobs > 0;
    else if (option == "--timeout") good = read_number(operand, read.settings.timeout_s);
    else if (option == "--simulated-devices") good = read_number(operand, read.settings.simulated_devices);
    else good = false;
    if (!good) return std::nullopt;
  }
  return read;
}

std::vector<probe::Case> chosen(const Arguments& arguments) {
  probe::CaseList list;
  if (arguments.first_seed > 0) {
    probe::add_sequences(list, arguments.first_seed, arguments.last_seed);
  } else {
    probe::add_all(list);
  }
  std::vector<probe::Case> cases = list.all();
  const auto& patterns = arguments.patterns;
  std::erase_if(cases, [&](const probe::Case& one) {
    return !patterns.empty() && std::none_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), one.name.c_str(), 0) == 0;
    });
  });
  return cases;
}

}  // namespace

int main(int count, char** words) {
  const std::optional<Arguments> arguments = read_arguments(count, words);
  if (!arguments) {
    std::fputs(usage, stderr);
    return 2;
  }
  const std::vector<probe::Case> cases = chosen(*arguments);
  if (cases.empty()) {
    std::fputs("probe: no case has such a name (--list shows them)\n", stderr);
    return 2;
  }
  if (arguments->list) {
    for (const probe::Case& one : cases) std::puts(one.name.c_str());
    return 0;
  }
  std::FILE* out = arguments->out.empty() ? stdout : std::fopen(arguments->out.c_str(), "w");
  if (out == nullptr) {
    std::fprintf(stderr, "probe: cannot write %s\n", arguments->out.c_str());
    return 2;
  }
  const std::string problem = probe::run(cases, arguments->settings, out);
  if (!problem.empty()) std::fprintf(stderr, "probe: %s\n", problem.c_str());
  return problem.empty() && std::fflush(out) == 0 ? 0 : 2;
}

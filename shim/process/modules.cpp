// SPDX-License-Identifier: Apache-2.0
// Asks the loader, whose list is read under its lock: for filters that need it, after all cheaper ones.
#include "modules.h"

#include <link.h>
#include <unistd.h>

#include <cstdint>

namespace cufault::process {
namespace {

std::string_view file_name(std::string_view path) noexcept {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

struct question {
  std::uintptr_t address;
  std::string_view glob;
  bool matches;
};

int ask(dl_phdr_info *module, std::size_t, void *given) {
  auto *const asked = static_cast<question *>(given);
  for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
    const auto &segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || asked->address - (module->dlpi_addr + segment.p_vaddr) >= segment.p_memsz) continue;
    char program[4096];
    std::string_view name = module->dlpi_name == nullptr ? "" : module->dlpi_name;
    if (name.empty()) {
      const auto length = ::readlink("/proc/self/exe", program, sizeof program);
      if (length > 0) name = {program, static_cast<std::size_t>(length)};
    }
    asked->matches = matches_glob(file_name(name), asked->glob);
    return 1;
  }
  return 0;
}

}  // namespace

bool in_module(const void *address, std::string_view glob) noexcept {
  question asked{reinterpret_cast<std::uintptr_t>(address), glob, false};
  ::dl_iterate_phdr(ask, &asked);
  return asked.matches;
}

}  // namespace cufault::process

// SPDX-License-Identifier: Apache-2.0
// The control page as a file that is mapped shared.
#include "control_page.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process/memory.h"
#include "trace/files.h"

namespace cufault::interpose {
namespace {

void fill_in(cufault_control_rule *rules, const faults::plan &plan) noexcept {
  for (std::uint32_t i = 0; i < plan.rule_count(); ++i) {
    process::text<CUFAULT_CONTROL_LABEL> label;
    label << plan.label(i);
    std::memcpy(rules[i].label, label.c_str(), label.size() + 1);
  }
}

}  // namespace

cufault_control_rule *make_control_page(const faults::plan &plan, process::message &why) noexcept {
  const std::uint32_t count = plan.rule_count();
  const char *const folder = plan.string(plan.header().run_folder);
  if (*folder == '\0') {
    auto *const rules = process::map_array<cufault_control_rule>(count);
    if (rules == nullptr) {
      why << "no memory for the plan's rules";
    } else {
      fill_in(rules, plan);
    }
    return rules;
  }
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const std::size_t size = sizeof(cufault_control_page) + count * sizeof(cufault_control_rule);
  trace::new_file file(folder, pid, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  auto *const head = file.ok() && file.reserve(size) ? static_cast<cufault_control_page *>(file.map(size)) : nullptr;
  bool made = head != nullptr;
  if (made) {
    std::memcpy(head->magic, CUFAULT_CONTROL_PAGE_MAGIC, sizeof head->magic);
    head->version = CUFAULT_CONTROL_PAGE_VERSION;
    head->header_size = sizeof *head;
    head->pid = pid;
    head->rule_count = count;
    head->rule_size = sizeof(cufault_control_rule);
    fill_in(reinterpret_cast<cufault_control_rule *>(head + 1), plan);
    trace::path name;
    name << folder << "/control." << pid;
    // One that is there is of an earlier program of this process, whose counts ended with it.
    ::unlink(name.c_str());
    made = file.publish(name.c_str());
  }
  if (!made) {
    why << "no control page can be made in " << folder << ": " << std::strerror(file.error());
    return nullptr;
  }
  return reinterpret_cast<cufault_control_rule *>(head + 1);
}

}  // namespace cufault::interpose

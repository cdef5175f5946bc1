// SPDX-License-Identifier: Apache-2.0
// The mapped file of fixed size.
#include "record.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "trace/clock.h"
#include "trace/files.h"

namespace cufault::libc {
namespace {

constexpr std::uint32_t most_images = 10'000;

std::uint32_t thread_id() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

std::uint64_t add_one(std::uint64_t& counter) noexcept {
  return std::atomic_ref<std::uint64_t>(counter).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool record::start(const plan& plan, std::uint32_t parent, process::message& why) noexcept {
  // In a forked child this is the parent's file, which the child must not touch again.
  if (header_ != nullptr) ::munmap(header_, size_);
  const std::uint32_t rules = plan.rule_count();
  const std::uint32_t capacity = plan.firing_capacity();
  const auto pid = static_cast<std::uint32_t>(::getpid());
  size_ = sizeof(cufault_libc_record_header) + rules * sizeof(cufault_libc_rule_count) +
          capacity * sizeof(cufault_libc_firing);
  trace::new_file file(plan.run_folder(), pid, thread_id());
  void* const at = file.ok() && file.reserve(size_) ? file.map(size_) : nullptr;
  if (at == nullptr) {
    why << "no record of " << std::uint64_t{size_} << " bytes can be made in " << plan.run_folder() << ": "
        << std::strerror(file.error());
    return false;
  }
  header_ = static_cast<cufault_libc_record_header*>(at);
  rules_ = reinterpret_cast<cufault_libc_rule_count*>(header_ + 1);
  firings_ = reinterpret_cast<cufault_libc_firing*>(rules_ + rules);

  std::memcpy(header_->magic, CUFAULT_LIBC_RECORD_MAGIC, sizeof header_->magic);
  header_->version = CUFAULT_LIBC_PLAN_VERSION;
  header_->header_size = sizeof *header_;
  header_->file_size = size_;
  header_->plan_checksum = plan.header().checksum;
  header_->start_ns = trace::read_clock(CLOCK_MONOTONIC);
  header_->pid = pid;
  header_->parent_pid = parent != 0 ? parent : static_cast<std::uint32_t>(::getppid());
  header_->forked = parent != 0 ? 1 : 0;
  header_->rule_count = rules;
  header_->firing_capacity = capacity;
  for (std::uint32_t i = 0; i < rules; ++i) std::strncpy(rules_[i].label, plan.label(i), CUFAULT_LIBC_NAME - 1);

  for (std::uint32_t image = 1; image < most_images; ++image) {
    trace::path name;
    name << plan.run_folder() << "/libc." << pid;
    if (image > 1) name << "-" << image;
    if (file.publish(name.c_str())) return true;
    if (file.error() != EEXIST) break;
  }
  why << "the record of process " << pid << " cannot be named: " << std::strerror(file.error());
  return false;
}

std::uint64_t record::count_match(std::uint32_t rule) noexcept { return add_one(rules_[rule].matched) + 1; }

void record::module_lost() noexcept { add_one(header_->modules_lost); }

void record::fired(const firing& what, const module& where) noexcept {
  add_one(rules_[what.rule].fired);
  const std::uint64_t slot = add_one(header_->firings);
  if (slot >= header_->firing_capacity) return;
  cufault_libc_firing& at = firings_[slot];
  at.rule = what.rule + 1;
  at.function = what.function;
  at.tid = thread_id();
  at.time_ns = trace::read_clock(CLOCK_MONOTONIC);
  at.ordinal = what.ordinal;
  at.value = what.value;
  at.module_offset = reinterpret_cast<std::uintptr_t>(what.caller) - where.base;
  std::memcpy(at.module, where.name, sizeof at.module);
  std::atomic_ref<std::uint32_t>(at.state).store(CUFAULT_LIBC_FIRING_COMPLETE, std::memory_order_release);
}

}  // namespace cufault::libc

// SPDX-License-Identifier: Apache-2.0
// Creation ordinals, names and contexts.
#include "handles.h"

#include <string_view>

#include "handle_roles.h"
#include "process/memory.h"

namespace cufault::faults {

bool handles::start(const plan &plan) noexcept {
  plan_ = &plan;
  by_rule_ = process::map_array<std::atomic<std::uint64_t>>(plan.rule_count());
  by_name_ = process::map_array<std::atomic<std::uint64_t>>(plan.handle_name_count());
  return by_rule_ != nullptr && by_name_ != nullptr;
}

void handles::reset() noexcept {
  for (auto &each : made_) each.store(0, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < plan_->rule_count(); ++i) by_rule_[i].store(0, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < plan_->handle_name_count(); ++i) by_name_[i].store(0, std::memory_order_relaxed);
}

void handles::count(api::handle_kind kind, std::uint64_t handle) noexcept {
  const std::uint64_t ordinal = made_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed) + 1;
  for (std::uint32_t i = 0; i < plan_->rule_count(); ++i) {
    const cufault_plan_rule &rule = plan_->rule(i);
    if (rule.handle_ordinal == ordinal && rule.handle_kind == static_cast<std::uint32_t>(kind) + 1)
      by_rule_[i].store(handle, std::memory_order_release);
  }
}

void handles::destroyed(api::handle_kind kind, std::uint64_t handle) noexcept {
  const auto clear = [handle](std::atomic<std::uint64_t> &at) {
    std::uint64_t expected = handle;
    at.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
  };
  for (std::uint32_t i = 0; i < plan_->rule_count(); ++i) {
    const std::uint32_t wanted = plan_->rule(i).handle_kind;
    if (wanted != 0 && same_kind(static_cast<api::handle_kind>(wanted - 1), kind)) clear(by_rule_[i]);
  }
  for (std::uint32_t i = 0; i < plan_->handle_name_count(); ++i) {
    if (same_kind(kind_of_name(i), kind)) clear(by_name_[i]);
  }
}

bool handles::bind(api::handle_kind kind, std::uint64_t handle, const char *name) noexcept {
  bool found = false;
  for (std::uint32_t i = 0; i < plan_->handle_name_count(); ++i) {
    if (!same_kind(kind_of_name(i), kind) || std::string_view(plan_->string(plan_->handle_name(i).name)) != name) continue;
    by_name_[i].store(handle, std::memory_order_release);
    found = true;
  }
  return found;
}

void context_registry::reset() noexcept {
  for (entry &each : entries_) each.context.store(0, std::memory_order_relaxed);
  used_.store(0, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
}

const context_registry::entry *context_registry::find(std::uint64_t context) const noexcept {
  if (context == 0) return nullptr;
  const std::uint32_t used = used_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used && i < capacity; ++i) {
    if (entries_[i].context.load(std::memory_order_acquire) == context) return &entries_[i];
  }
  return nullptr;
}

void context_registry::made(std::uint64_t context, std::int64_t device) noexcept {
  if (context == 0 || find(context) != nullptr) return;
  const std::uint64_t ordinal = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  // A place once used is not used again: contexts are few, and a reader never sees one change under it.
  const std::uint32_t at = used_.fetch_add(1, std::memory_order_acq_rel);
  if (at >= capacity) {
    used_.store(capacity, std::memory_order_relaxed);
    return;
  }
  entries_[at].ordinal.store(ordinal, std::memory_order_relaxed);
  entries_[at].device_plus_1.store(device < 0 ? 0 : static_cast<std::uint64_t>(device) + 1, std::memory_order_relaxed);
  entries_[at].context.store(context, std::memory_order_release);
}

void context_registry::destroyed(std::uint64_t context) noexcept {
  const entry *const found = find(context);
  if (found != nullptr) const_cast<entry *>(found)->context.store(0, std::memory_order_release);
}

std::uint64_t context_registry::ordinal(std::uint64_t context) const noexcept {
  const entry *const found = find(context);
  return found == nullptr ? 0 : found->ordinal.load(std::memory_order_relaxed);
}

std::uint64_t context_registry::device_plus_1(std::uint64_t context) const noexcept {
  const entry *const found = find(context);
  return found == nullptr ? 0 : found->device_plus_1.load(std::memory_order_relaxed);
}

}  // namespace cufault::faults

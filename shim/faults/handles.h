/* SPDX-License-Identifier: Apache-2.0 */
/* The driver objects that rules speak of: by creation ordinal, or by the name that a step or the program gave. */
#ifndef CUFAULT_FAULTS_HANDLES_H
#define CUFAULT_FAULTS_HANDLES_H

#include <atomic>
#include <cstdint>

#include "cufault/api_table.h"
#include "plan.h"

namespace cufault::faults {

/* Counts what is made and keeps what each rule and name of the plan stands for. Safe from every thread, without a lock. */
class handles {
 public:
  [[nodiscard]] bool start(const plan &plan) noexcept;
  void reset() noexcept;

  /* The object that rule `rule` asks for by ordinal, or that name `name` is bound to; 0: none lives. */
  [[nodiscard]] std::uint64_t of_rule(std::uint32_t rule) const noexcept { return by_rule_[rule].load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t of_name(std::uint32_t name) const noexcept { return by_name_[name].load(std::memory_order_acquire); }
  [[nodiscard]] api::handle_kind kind_of_name(std::uint32_t name) const noexcept {
    return static_cast<api::handle_kind>(plan_->handle_name(name).kind - 1);
  }

  /* A successful make. Calls `bound(index of the name)` for each name of the open step that now stands for it. */
  template <class Bound>
  void made(api::handle_kind kind, std::uint64_t handle, std::uint32_t step, Bound bound) noexcept {
    count(kind, handle);
    if (step == 0) return;
    for (std::uint32_t i = 0; i < plan_->handle_name_count(); ++i) {
      if (plan_->handle_name(i).step != step || kind_of_name(i) != kind) continue;
      by_name_[i].store(handle, std::memory_order_release);
      bound(i);
    }
  }
  /* A successful destroy: what stood for it stands for nothing, for the driver may give the number again. */
  void destroyed(api::handle_kind kind, std::uint64_t handle) noexcept;
  /* The program's own word. False: the plan has no such name of that kind, which is no error. */
  bool bind(api::handle_kind kind, std::uint64_t handle, const char *name) noexcept;

 private:
  void count(api::handle_kind kind, std::uint64_t handle) noexcept;

  const plan *plan_ = nullptr;
  std::atomic<std::uint64_t> made_[api::kind_count] = {};
  std::atomic<std::uint64_t> *by_rule_ = nullptr;
  std::atomic<std::uint64_t> *by_name_ = nullptr;
};

/* Contexts in the order in which they were first made or retained, with their devices. */
class context_registry {
 public:
  void reset() noexcept;
  void made(std::uint64_t context, std::int64_t device) noexcept;
  void destroyed(std::uint64_t context) noexcept;
  /* From 1; 0: unknown. */
  [[nodiscard]] std::uint64_t ordinal(std::uint64_t context) const noexcept;
  /* Device + 1; 0: unknown. */
  [[nodiscard]] std::uint64_t device_plus_1(std::uint64_t context) const noexcept;

 private:
  struct entry {
    std::atomic<std::uint64_t> context{0};
    std::atomic<std::uint64_t> ordinal{0};
    std::atomic<std::uint64_t> device_plus_1{0};
  };
  [[nodiscard]] const entry *find(std::uint64_t context) const noexcept;

  /* A process has a handful; the contexts beyond are counted but match no rule. */
  static constexpr std::uint32_t capacity = 256;
  entry entries_[capacity] = {};
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace cufault::faults

#endif

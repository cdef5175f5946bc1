/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's context stack as the driver keeps it, mirrored call by call, and which switches enter and restore. */
#ifndef CUFAULT_FAULTS_CONTEXTS_H
#define CUFAULT_FAULTS_CONTEXTS_H

#include <cstddef>
#include <cstdint>

#include "cufault/api_table.h"

namespace cufault::faults {

/* All zero is the stack of a new thread. Deeper than it can hold, it forgets the bottom. */
class context_stack {
 public:
  [[nodiscard]] std::uint64_t current() const noexcept { return depth_ == 0 ? 0 : entries_[depth_ - 1]; }
  [[nodiscard]] std::uint64_t below() const noexcept { return depth_ < 2 ? 0 : entries_[depth_ - 2]; }

  void push(std::uint64_t context) noexcept {
    if (depth_ == capacity) {
      for (std::size_t i = 1; i < capacity; ++i) entries_[i - 1] = entries_[i];
      --depth_;
    }
    entries_[depth_++] = context;
  }
  void pop() noexcept {
    if (depth_ != 0) --depth_;
  }
  /* As cuCtxSetCurrent: the top is replaced, and setting null takes it off. */
  void set(std::uint64_t context) noexcept {
    if (context == 0) {
      pop();
    } else if (depth_ == 0) {
      push(context);
    } else {
      entries_[depth_ - 1] = context;
    }
  }
  /* What the driver says is current, where somebody has switched behind the shim (the runtime's private tables). */
  void correct(std::uint64_t context) noexcept {
    if (context == current()) return;
    if (context == 0) {
      depth_ = 0;
    } else {
      set(context);
    }
  }

 private:
  static constexpr std::size_t capacity = 32;
  std::uint64_t entries_[capacity];
  std::size_t depth_;
};

enum class switch_role : std::uint8_t { none, enter, restore };

/*
 * Tells enter from restore, for one thread. B is the context current when the step began: on the thread that opened the
 * step, and on any other at its first switch in it. A switch whose target is not B is an enter; one back to B after an
 * attempted enter is a restore, until it has succeeded.
 */
class switches {
 public:
  /* The step numbered `serial` begins with `current`; serials count steps begun and ended. */
  void begin(std::uint64_t serial, std::uint64_t current) noexcept {
    serial_ = serial;
    base_ = current;
    away_ = false;
  }
  /* Before the call; `target` is the context that it would make current. */
  [[nodiscard]] switch_role classify(std::uint64_t serial, std::uint64_t current, std::uint64_t target) noexcept {
    if (serial != serial_) begin(serial, current);
    if (target != base_) {
      away_ = true;
      return switch_role::enter;
    }
    return away_ ? switch_role::restore : switch_role::none;
  }
  /* A call that makes a context and makes it current, whatever it will be called. */
  [[nodiscard]] switch_role classify_create(std::uint64_t serial, std::uint64_t current) noexcept {
    if (serial != serial_) begin(serial, current);
    away_ = true;
    return switch_role::enter;
  }
  /* After a switch that the driver carried out. */
  void arrived(std::uint64_t current) noexcept {
    if (current == base_) away_ = false;
  }

 private:
  std::uint64_t serial_;
  std::uint64_t base_;
  bool away_;
};

}  // namespace cufault::faults

#endif

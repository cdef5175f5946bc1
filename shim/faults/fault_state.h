/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a sticky or shutdown fault leaves the process in: what it makes later calls answer. */
#ifndef CUFAULT_FAULTS_FAULT_STATE_H
#define CUFAULT_FAULTS_FAULT_STATE_H

#include <atomic>
#include <cstdint>
#include <string_view>

#include "cufault/api_table.h"

namespace cufault::faults {

/* Process-wide, as observed: on every context and every device. Held by the shim, so that every driver behaves alike. */
class fault_state {
 public:
  enum class kind : std::uint32_t { none = 0, sticky_observed = 1, sticky_documented = 2, deinitialized = 3 };

  struct answer {
    bool instead;    /* `code` is answered and the call not forwarded */
    bool unrecorded; /* forwarded, though nobody has recorded what hardware does */
    std::int32_t code;
  };

  /* The first sticky fault stays; the driver's shutdown comes over any. */
  void stick(kind how, std::int32_t code) noexcept {
    std::uint64_t none = 0;
    state_.compare_exchange_strong(none, pack(how, code), std::memory_order_acq_rel);
  }
  void deinitialize() noexcept { state_.store(pack(kind::deinitialized, deinitialized_code), std::memory_order_release); }
  void reset() noexcept { state_.store(0, std::memory_order_release); }

  [[nodiscard]] bool clear() const noexcept { return state_.load(std::memory_order_acquire) == 0; }
  [[nodiscard]] answer ask(const api::function_info &function) const noexcept {
    const std::uint64_t state = state_.load(std::memory_order_acquire);
    const auto code = static_cast<std::int32_t>(state & 0xffffffffu);
    switch (static_cast<kind>(state >> 32)) {
      case kind::none: break;
      case kind::deinitialized:
      case kind::sticky_documented: return {!names_errors(function.name), false, code};
      case kind::sticky_observed:
        return {function.after_sticky_fault == api::sticky_answer::fault,
                function.after_sticky_fault == api::sticky_answer::unrecorded, code};
    }
    return {false, false, 0};
  }

 private:
  static constexpr std::int32_t deinitialized_code = 4;
  static constexpr std::uint64_t pack(kind how, std::int32_t code) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(how)} << 32 | static_cast<std::uint32_t>(code);
  }
  /* They keep answering: a library must be able to say what hit it. */
  static constexpr bool names_errors(std::string_view function) noexcept {
    return function == "cuGetErrorName" || function == "cuGetErrorString";
  }

  std::atomic<std::uint64_t> state_{0};
};

}  // namespace cufault::faults

#endif

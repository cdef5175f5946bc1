// SPDX-License-Identifier: Apache-2.0
// Refuses every rule that this build cannot honour to the letter.
#include "rule_check.h"

#include <string_view>

#include "cufault/api_table.h"

namespace cufault::faults {
namespace {

constexpr std::int32_t deinitialized = 4;
constexpr std::int32_t not_found = 500;
constexpr std::int32_t illegal_address = 700;
constexpr std::int32_t misaligned_address = 716;
constexpr std::int32_t launch_failed = 719;

// Which effects need a code, and which must not have one.
enum class code_use : std::uint8_t { needed, of_a_kernel, forbidden, fixed_deinitialized, fixed_not_found, unhonoured };

code_use code_of(std::uint32_t effect) noexcept {
  switch (effect) {
    case CUFAULT_EFFECT_FAIL:
    case CUFAULT_EFFECT_CALL_THEN_FAIL:
    case CUFAULT_EFFECT_STICKY:
    case CUFAULT_EFFECT_ASYNC: return code_use::needed;
    case CUFAULT_EFFECT_REAL_FAULT: return code_use::of_a_kernel;
    case CUFAULT_EFFECT_DEINITIALIZE: return code_use::fixed_deinitialized;
    case CUFAULT_EFFECT_MISSING: return code_use::fixed_not_found;
    case CUFAULT_EFFECT_DESTROY_CONTEXT:
    case CUFAULT_EFFECT_RESET_PRIMARY:
    case CUFAULT_EFFECT_CALLBACK:
    case CUFAULT_EFFECT_DELAY:
    case CUFAULT_EFFECT_HANG: return code_use::forbidden;
    default: return code_use::unhonoured;
  }
}

class rule_check {
 public:
  rule_check(const plan &plan, std::uint32_t index, process::message &why) noexcept
      : plan_(plan), rule_(plan.rule(index)), index_(index), why_(why) {}

  [[nodiscard]] bool run() noexcept {
    return label() && symbols() && effect() && ordinals() && thread() && moments() && handles() && argument() &&
           unhonoured() && missing();
  }

 private:
  process::message &wrong() noexcept {
    why_ << "rule " << index_ + 1;
    if (rule_.label < plan_.header().strings_size) why_ << " '" << plan_.string(rule_.label) << "'";
    return why_ << ": ";
  }
  [[nodiscard]] bool require(bool holds, std::string_view what) noexcept {
    if (!holds) wrong() << what;
    return holds;
  }
  [[nodiscard]] bool string(const char *field, std::uint32_t offset) noexcept {
    if (offset < plan_.header().strings_size) return true;
    wrong() << field << ": string offset " << offset << " is outside the strings";
    return false;
  }
  [[nodiscard]] bool within(const char *field, std::uint32_t value, std::uint32_t most) noexcept {
    if (value <= most) return true;
    wrong() << field << " " << value << " is not known to this build (at most " << most << ")";
    return false;
  }

  [[nodiscard]] bool label() noexcept {
    if (!string("label", rule_.label)) return false;
    const std::string_view own = plan_.string(rule_.label);
    if (!require(!own.empty(), "it has no label")) return false;
    for (std::uint32_t i = 0; i < index_; ++i) {
      if (own == plan_.label(i)) return require(false, "another rule has the same label");
    }
    return true;
  }

  [[nodiscard]] bool symbols() noexcept {
    const std::uint64_t end = std::uint64_t{rule_.symbols_first} + rule_.symbols_count;
    if (!require(rule_.symbols_count != 0, "it names no function")) return false;
    if (!require(end <= plan_.header().symbol_list_count, "its functions lie outside the plan's list")) return false;
    for (std::uint32_t i = 0; i < rule_.symbols_count; ++i) {
      const std::uint32_t offset = plan_.rule_symbol_string(rule_, i);
      if (!string("function", offset)) return false;
      if (plan_.rule_symbol(rule_, i) == api::symbol_count) {
        wrong() << "'" << plan_.string(offset) << "' is no function of the driver that this build knows";
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool effect() noexcept {
    if (!within("sticky_scope", rule_.sticky_scope, CUFAULT_STICKY_DOCUMENTED)) return false;
    const bool lasting = rule_.effect == CUFAULT_EFFECT_STICKY || rule_.effect == CUFAULT_EFFECT_ASYNC;
    if (!require(lasting || rule_.sticky_scope == 0, "sticky_scope is for sticky faults")) return false;
    if (!require((rule_.effect == CUFAULT_EFFECT_DELAY) == (rule_.delay_ns != 0), "delay_ns is what effect delay needs"))
      return false;
    if (!string("callback", rule_.callback)) return false;
    const bool calls_back = *plan_.string(rule_.callback) != '\0';
    if (!require((rule_.effect == CUFAULT_EFFECT_CALLBACK) == calls_back, "a callback's name is what effect callback needs"))
      return false;
    switch (code_of(rule_.effect)) {
      case code_use::needed: break;
      case code_use::of_a_kernel:
        return require(rule_.code == illegal_address || rule_.code == misaligned_address || rule_.code == launch_failed,
                       "a kernel makes CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS or CUDA_ERROR_LAUNCH_FAILED only");
      case code_use::forbidden: return require(rule_.code == 0, "its effect takes no code");
      case code_use::fixed_deinitialized:
        return require(rule_.code == 0 || rule_.code == deinitialized, "deinitialize answers CUDA_ERROR_DEINITIALIZED only");
      case code_use::fixed_not_found:
        return require(rule_.code == 0 || rule_.code == not_found, "missing answers CUDA_ERROR_NOT_FOUND only");
      case code_use::unhonoured:
        wrong() << "effect " << rule_.effect << " is not honoured by this build";
        return false;
    }
    if (rule_.code != 0 && api::find_result(rule_.code) != nullptr) return true;
    wrong() << "code " << rule_.code << (rule_.code == 0 ? " is no error" : " is no CUresult that this build knows");
    return false;
  }

  [[nodiscard]] bool ordinals() noexcept {
    return require(rule_.from != 0, "from is 0: ordinals count from 1") &&
           require(rule_.every != 0, "every is 0: 1 means each") &&
           require(rule_.probability > 0.0 && rule_.probability <= 1.0, "probability is not above 0 and at most 1");
  }

  [[nodiscard]] bool thread() noexcept {
    if (!within("thread", rule_.thread, CUFAULT_THREAD_ORDINAL) || !string("thread_name", rule_.thread_name)) return false;
    const bool by_name = rule_.thread == CUFAULT_THREAD_NAME;
    const bool by_ordinal = rule_.thread == CUFAULT_THREAD_ORDINAL;
    return require(by_name == (*plan_.string(rule_.thread_name) != '\0'), "thread_name goes with a thread by name") &&
           require(by_ordinal == (rule_.thread_ordinal != 0), "thread_ordinal goes with a thread by ordinal");
  }

  [[nodiscard]] bool moments() noexcept {
    return within("nested", rule_.nested, CUFAULT_NESTED_ONLY) && within("switch_role", rule_.switch_role, CUFAULT_SWITCH_RESTORE) &&
           require(rule_.step <= plan_.step_count(), "its step is none of the plan's") &&
           require(rule_.after_rule <= plan_.rule_count(), "after_rule is none of the plan's rules") &&
           require(rule_.after_rule != index_ + 1, "it waits for itself");
  }

  [[nodiscard]] bool handles() noexcept {
    if (!within("handle_kind", rule_.handle_kind, api::kind_count)) return false;
    if (!require(rule_.handle_name <= plan_.handle_name_count(), "its handle name is none of the plan's")) return false;
    if (!require(rule_.handle_ordinal == 0 || rule_.handle_kind != 0, "a handle's ordinal needs its kind")) return false;
    return require(rule_.handle_ordinal == 0 || rule_.handle_name == 0, "a handle has a name or an ordinal, not both");
  }

  [[nodiscard]] bool argument() noexcept {
    if (!within("compare", rule_.compare, CUFAULT_COMPARE_HAS_BITS)) return false;
    if (rule_.compare == CUFAULT_COMPARE_NONE)
      return require(rule_.argument == 0 && rule_.value == 0, "argument and value need a comparison");
    for (std::uint32_t i = 0; i < rule_.symbols_count; ++i) {
      const api::symbol_info &symbol = api::symbols[plan_.rule_symbol(rule_, i)];
      if (rule_.argument < symbol.argc) continue;
      wrong() << symbol.name << " has no argument " << rule_.argument << " (they count from 0)";
      return false;
    }
    return true;
  }

  [[nodiscard]] bool unhonoured() noexcept {
    if (!string("module", rule_.module)) return false;
    if (!within("unique_stack", rule_.unique_stack, 1)) return false;
    if (!require(rule_.native_frame == 0 && rule_.python_frame == 0, "filters by frame are not honoured by this build")) return false;
    for (const std::uint32_t word : rule_.reserved) {
      if (!require(word == 0, "reserved fields are not zero: it was written for a newer version")) return false;
    }
    return true;
  }

  // A function is missing from the process's start to its end, or it would have been found before.
  [[nodiscard]] bool missing() noexcept {
    if (rule_.effect != CUFAULT_EFFECT_MISSING) return true;
    const bool filtered = rule_.from != 1 || rule_.every != 1 || rule_.limit != 0 || rule_.probability < 1.0 ||
                          rule_.nested != CUFAULT_NESTED_NO || rule_.thread != 0 || rule_.step != 0 || rule_.after_rule != 0 ||
                          rule_.switch_role != 0 || rule_.handle_kind != 0 || rule_.handle_name != 0 ||
                          rule_.context_ordinal != 0 || rule_.device_plus_1 != 0 || rule_.compare != 0 || rule_.module != 0 ||
                          rule_.unique_stack != 0;
    return require(!filtered, "a missing function is missing always: no other trigger can narrow it");
  }

  const plan &plan_;
  const cufault_plan_rule &rule_;
  std::uint32_t index_;
  process::message &why_;
};

}  // namespace

bool check_rule(const plan &plan, std::uint32_t index, process::message &why) noexcept {
  return rule_check(plan, index, why).run();
}

}  // namespace cufault::faults

/* SPDX-License-Identifier: Apache-2.0 */
/* What a rule of a plan may say, and what this build honours of it. */
#ifndef CUFAULT_FAULTS_RULE_CHECK_H
#define CUFAULT_FAULTS_RULE_CHECK_H

#include <cstdint>

#include "plan.h"

namespace cufault::faults {

constexpr std::uint32_t honoured_flags = CUFAULT_PLAN_TRACE | CUFAULT_PLAN_TRACE_STACKS;

/* The plan's parts must lie in bounds. False: `why` begins with the rule's label and says what is wrong with it. */
[[nodiscard]] bool check_rule(const plan &plan, std::uint32_t index, process::message &why) noexcept;

}  // namespace cufault::faults

#endif

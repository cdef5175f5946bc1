/* SPDX-License-Identifier: Apache-2.0 */
/* Makes control.<pid>, where the rules' counters of a process live. */
#ifndef CUFAULT_INTERPOSE_CONTROL_PAGE_H
#define CUFAULT_INTERPOSE_CONTROL_PAGE_H

#include "cufault/control_page.h"
#include "faults/plan.h"

namespace cufault::interpose {

/*
 * The counters, all zero and labelled, in the plan's run folder; in memory of the process's own where the plan has none.
 * nullptr: `why`. In a forked child call it again.
 */
[[nodiscard]] cufault_control_rule *make_control_page(const faults::plan &plan, process::message &why) noexcept;

}  // namespace cufault::interpose

#endif

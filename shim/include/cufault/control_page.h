/* SPDX-License-Identifier: Apache-2.0 */
/* The page through which another process watches a run's rules, arms and disarms them. */
#ifndef CUFAULT_CONTROL_PAGE_H
#define CUFAULT_CONTROL_PAGE_H

/*
 * control.<pid> in the plan's run folder, mode 0600, version 1, little endian: cufault_control_page, then
 * cufault_control_rule[rule_count] in the plan's order. The shim counts in it directly, so what it says outlives the process,
 * however that ended. Another process maps it shared and may write `disarmed`, one aligned word, and nothing else.
 * A shim without a run folder has no page.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_CONTROL_PAGE_MAGIC "CUFCTRL" /* with its NUL: eight bytes */
#define CUFAULT_CONTROL_PAGE_VERSION 1u
#define CUFAULT_CONTROL_LABEL 96

struct cufault_control_page {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* sizeof(struct cufault_control_page) */
  uint32_t pid;
  uint32_t rule_count;
  uint32_t rule_size; /* sizeof(struct cufault_control_rule) */
  uint32_t reserved32;
  uint64_t reserved[12];
};

struct cufault_control_rule {
  uint64_t matched; /* calls that pass every filter of the rule */
  uint64_t fired;
  uint64_t drawn;    /* of a rule with a probability: those that were drawn */
  uint32_t disarmed; /* 1: the rule neither fires nor counts */
  uint32_t reserved;
  char label[CUFAULT_CONTROL_LABEL]; /* NUL-terminated; what does not fit ends in "..." */
};

#ifdef __cplusplus
}
static_assert(sizeof(cufault_control_page) == 128, "control page 1 is frozen");
static_assert(sizeof(cufault_control_rule) == 128, "control page 1 is frozen");
#endif

#endif

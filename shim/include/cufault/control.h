/* SPDX-License-Identifier: Apache-2.0 */
/* What a preloaded process may ask of the shim from inside: steps, names of handles, and "did it fire". */
#ifndef CUFAULT_CONTROL_H
#define CUFAULT_CONTROL_H

/*
 * The functions are exported by the shim. A program looks them up with dlsym(RTLD_DEFAULT, name), so that it runs
 * unchanged where nothing is preloaded; C++ programs may use harness/native, which does that. None of them makes a
 * driver call that a trace would show, all are thread-safe, none throws. Before the plan is read (first driver call or
 * first control call) they start the shim. Without a plan they answer CUFAULT_IDLE and do nothing.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_CONTROL_VERSION 1

enum cufault_control_status {
  CUFAULT_OK = 0,
  CUFAULT_IDLE = 1,      /* no plan: the shim passes through */
  CUFAULT_UNKNOWN = 2,   /* no such rule, step or kind */
  CUFAULT_STEP_OPEN = 3, /* a step is open already */
  CUFAULT_NO_STEP = 4    /* no step is open */
};

/* CUFAULT_CONTROL_VERSION of the shim. */
int cufault_control_version(void);

/* CUFAULT_OK if a plan is in force, else CUFAULT_IDLE. */
int cufault_active(void);

/*
 * Open and close a step. Steps are process-wide and one is open at a time. The caller's current context at this moment
 * is what `enter` and `restore` are told apart by, on the thread that opens the step and on every other at its first
 * switch. `name` is copied; names that the plan knows have its ids, others get the next free id.
 */
int cufault_step_begin(const char *name);
int cufault_step_end(void);

/* Gives a live driver object a name that rules and reports use. kind: a name of roles.yaml, "stream". */
int cufault_name_handle(const char *kind, uint64_t handle, const char *name);

/* How often the rule with that label has fired, and has matched, in this process so far; 0 for an unknown label. */
uint64_t cufault_fired(const char *label);
uint64_t cufault_matched(const char *label);

/* Arm or disarm a rule of the plan at run time; a rule is armed from the start. */
int cufault_arm(const char *label, int armed);

/* How many driver calls this process has made through the shim. */
uint64_t cufault_calls(void);

/* Free text into the trace. */
int cufault_note(const char *text);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The seam between the shim and the simulated driver: neither links against the other. */
#ifndef CUFAULT_SIM_HOST_H
#define CUFAULT_SIM_HOST_H

/*
 * libcufault_sim.so is a driver library like any other and works without a host. Where the shim loads it, it calls
 * cufault_sim_attach once, before the first driver call, with what the plan says and with where to report. Reports are
 * made on the thread of the call they belong to, inside that call.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_SIM_HOST_VERSION 1u

struct cufault_sim_host {
  uint32_t version; /* CUFAULT_SIM_HOST_VERSION */
  uint32_t device_count;   /* 0 = 1 */
  uint32_t driver_version; /* 0 = newest recorded */
  uint32_t reserved;
  uint64_t seed;
  const char *profile; /* device profile, empty = the recorded one; lives as long as the process */

  /* `what` says which entry point, or which part of it, has no model; the call answers CUDA_ERROR_NOT_SUPPORTED. */
  void (*unmodelled)(const char *symbol, const char *what);
  /* kind: cufault_misuse of trace_format.h; handle as the caller gave it; text for people. */
  void (*misuse)(uint32_t kind, const char *symbol, uint64_t handle, const char *text);
  /* Bracket every call that the simulator makes into application code (host functions, callbacks, destructors). */
  void (*callback_enter)(void);
  void (*callback_leave)(void);
};

/* 0 if the version is understood, else the version that would be. */
uint32_t cufault_sim_attach(const struct cufault_sim_host *host);

#ifdef __cplusplus
}
#endif

#endif

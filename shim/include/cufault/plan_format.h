/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: the binary file that tells the preloaded shim what to fail, what to record and which driver to call. */
#ifndef CUFAULT_PLAN_FORMAT_H
#define CUFAULT_PLAN_FORMAT_H

/*
 * Layout, version 1 (little endian, every offset counted from the start of the file):
 *
 *   cufault_plan_header | cufault_plan_rule[rule_count] | uint32 symbol_list[symbol_list_count] |
 *   uint32 step_names[step_count] | cufault_plan_handle_name[handle_name_count] | string bytes
 *
 * A string is a NUL-terminated UTF-8 run inside the string block and is named by its offset in that block; offset 0 is
 * the empty string and means "not given". Symbols are listed by name, one string per exported symbol: globs and classes
 * are expanded by the writer, and a reader refuses a name that it does not know (exit status 97).
 *
 * Extension is by `version` only: a reader refuses a version, an enumerator or a flag that it does not know, because a
 * fault that is silently left out would make a run pass that exercised nothing.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_PLAN_MAGIC "CUFPLAN" /* with its NUL: eight bytes */
#define CUFAULT_PLAN_VERSION 1u
#define CUFAULT_PLAN_VARIABLE "CUFAULT_PLAN"
#define CUFAULT_EXIT_PLAN_REFUSED 97

enum cufault_backend {
  CUFAULT_BACKEND_REAL = 1,      /* the libcuda.so.1 that the process would have used without the shim */
  CUFAULT_BACKEND_SIMULATED = 2, /* libcufault_sim.so, at backend_path */
  CUFAULT_BACKEND_PATH = 3       /* any driver library, at backend_path (stand-ins in tests, other drivers) */
};

enum cufault_plan_flag {
  CUFAULT_PLAN_TRACE = 1u << 0,       /* write trace files into run_folder */
  CUFAULT_PLAN_TRACE_STACKS = 1u << 1 /* and a native stack for every call */
};

enum cufault_effect {
  CUFAULT_EFFECT_FAIL = 1,           /* not forwarded; `code` is answered, out-parameters untouched */
  CUFAULT_EFFECT_CALL_THEN_FAIL = 2, /* forwarded; `code` is answered */
  CUFAULT_EFFECT_STICKY = 3,         /* fails now, and later calls answer `code` as recorded on hardware */
  CUFAULT_EFFECT_ASYNC = 4,          /* this call succeeds; `code` surfaces at the next affected call, sticky from there */
  CUFAULT_EFFECT_DEINITIALIZE = 5,   /* from this call on everything answers CUDA_ERROR_DEINITIALIZED */
  CUFAULT_EFFECT_DESTROY_CONTEXT = 6,/* a third party destroys the current context first, then the call is forwarded */
  CUFAULT_EFFECT_RESET_PRIMARY = 7,  /* likewise, cuDevicePrimaryCtxReset of the context's device */
  CUFAULT_EFFECT_MISSING = 8,        /* cuGetProcAddress does not find it; a kept pointer answers CUDA_ERROR_NOT_FOUND */
  CUFAULT_EFFECT_REAL_FAULT = 9,     /* a kernel that truly faults is launched first; `code` says which */
  CUFAULT_EFFECT_DELAY = 10,         /* waits delay_ns, then forwards */
  CUFAULT_EFFECT_HANG = 11,          /* never returns */
  CUFAULT_EFFECT_CALLBACK = 12       /* calls the C function named by `callback` first, then forwards */
};

enum cufault_sticky_scope {
  CUFAULT_STICKY_OBSERVED = 0,  /* the calls that were recorded to answer the fault on hardware */
  CUFAULT_STICKY_DOCUMENTED = 1 /* every call, as the documentation says */
};

enum cufault_switch_role { CUFAULT_SWITCH_ANY = 0, CUFAULT_SWITCH_ENTER = 1, CUFAULT_SWITCH_RESTORE = 2 };

enum cufault_nested { CUFAULT_NESTED_NO = 0, CUFAULT_NESTED_ALSO = 1, CUFAULT_NESTED_ONLY = 2 };

enum cufault_thread_selector {
  CUFAULT_THREAD_ANY = 0,
  CUFAULT_THREAD_MAIN = 1,
  CUFAULT_THREAD_NAME = 2,   /* thread_name, as pthread_getname_np gives it */
  CUFAULT_THREAD_ORDINAL = 3 /* thread_ordinal: in order of first driver call, the first being 1 */
};

enum cufault_compare {
  CUFAULT_COMPARE_NONE = 0,
  CUFAULT_COMPARE_EQUAL = 1,
  CUFAULT_COMPARE_NOT_EQUAL = 2,
  CUFAULT_COMPARE_LESS = 3,
  CUFAULT_COMPARE_GREATER = 4,
  CUFAULT_COMPARE_HAS_BITS = 5
};

struct cufault_plan_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* sizeof(struct cufault_plan_header) */
  uint64_t file_size;
  uint64_t checksum; /* FNV-1a, 64 bits, over the whole file with this field taken as zero */
  uint32_t flags;    /* cufault_plan_flag */
  uint32_t backend;  /* cufault_backend */
  uint32_t backend_path; /* string */
  uint32_t run_folder;   /* string, absolute; trace files are made here */
  uint32_t rules_at, rule_count;
  uint32_t symbol_list_at, symbol_list_count;
  uint32_t steps_at, step_count;
  uint32_t handle_names_at, handle_name_count;
  uint32_t strings_at, strings_size;
  uint32_t trace_segment_records; /* records in one trace file, 0 = 4096 */
  uint32_t trace_segments_per_thread; /* then calls are counted as lost, 0 = 256 */
  uint32_t sim_device_count;   /* 0 = 1 */
  uint32_t sim_driver_version; /* as cuDriverGetVersion gives it, 0 = newest recorded */
  uint64_t sim_seed;
  uint32_t sim_profile; /* string: device profile name, empty = the recorded one */
  uint32_t reserved[9]; /* zero */
};

struct cufault_plan_rule {
  uint32_t label;         /* string: what reports call this rule, unique in the plan */
  uint32_t symbols_first; /* in symbol_list */
  uint32_t symbols_count; /* never 0 */
  uint32_t effect;        /* cufault_effect */
  int32_t code;           /* a CUresult; 0 only for effects that have none */
  uint32_t sticky_scope;  /* cufault_sticky_scope */
  uint64_t from;          /* first ordinal that fires, counted from 1 among calls that pass every filter; never 0 */
  uint64_t every;         /* then every k-th; never 0 */
  uint64_t limit;         /* fires at most so often; 0 = no limit */
  double probability;     /* of firing where the ordinal allows it: 1.0 = always */
  uint64_t seed;          /* of that rule's own generator */
  uint32_t nested;        /* cufault_nested */
  uint32_t thread;        /* cufault_thread_selector */
  uint32_t thread_name;   /* string */
  uint32_t thread_ordinal;
  uint32_t step;          /* index + 1 in step_names; 0 = any moment */
  uint32_t after_rule;    /* index + 1 of a rule that must have fired first; 0 = none */
  uint32_t switch_role;   /* cufault_switch_role */
  uint32_t handle_kind;   /* handle_kind of api_table.h + 1; 0 = any handle */
  uint32_t handle_name;   /* index + 1 in handle_names: the object that a step made */
  uint32_t handle_ordinal;/* the n-th object of handle_kind made in this process; 0 = any */
  uint32_t context_ordinal; /* the current context is the n-th made or retained; 0 = any */
  uint32_t device_plus_1;   /* device of the current context + 1; 0 = any */
  uint32_t argument;        /* index of the argument compared */
  uint32_t compare;         /* cufault_compare */
  uint64_t value;
  uint32_t module;          /* string: basename glob of the module that calls */
  uint32_t native_frame;    /* string: a function on the native stack */
  uint32_t python_frame;    /* string: a function on the Python stack */
  uint32_t unique_stack;    /* 1: each call stack fires once */
  uint64_t delay_ns;
  uint32_t callback;        /* string: an exported C function, void (*)(const char *symbol) */
  uint32_t reserved[21];    /* zero */
};

struct cufault_plan_handle_name {
  uint32_t name; /* string */
  uint32_t kind; /* handle_kind of api_table.h + 1 */
  uint32_t step; /* index + 1 of the step that makes it: bound to the last successful create of its kind there; 0 = named by hand */
  uint32_t reserved;
};

#ifdef __cplusplus
}
static_assert(sizeof(cufault_plan_header) == 152, "plan format 1 is frozen");
static_assert(sizeof(cufault_plan_rule) == 240, "plan format 1 is frozen");
static_assert(sizeof(cufault_plan_handle_name) == 16, "plan format 1 is frozen");
#endif

#endif

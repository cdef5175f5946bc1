/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of the second preload (allocations and close that fail), and the record that it leaves in the run folder. */
#ifndef CUFAULT_LIBC_PLAN_FORMAT_H
#define CUFAULT_LIBC_PLAN_FORMAT_H

/*
 * Version 1, little endian, every offset counted from the start of the file.
 *
 *   the plan:    cufault_libc_plan_header | cufault_libc_rule[rule_count] | string bytes
 *   libc.<pid>:  cufault_libc_record_header | cufault_libc_rule_count[rule_count] | cufault_libc_firing[capacity]
 *
 * A string is a NUL-terminated UTF-8 run inside the string block and is named by its offset in that block; offset 0 is
 * the empty string and means "not given". The record is a file of fixed size, mapped and shared: whatever kills the
 * process, what it had counted and what had fired can be read. It is called libc.<pid>-<n> for the n-th program, from
 * the second, that one pid has run by exec.
 *
 * Extension is by `version` only: a reader refuses a version, a function or a flag that it does not know (status 97),
 * because a fault that is silently left out would make a run pass that exercised nothing.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_LIBC_PLAN_MAGIC "CUFLIBC" /* with its NUL: eight bytes */
#define CUFAULT_LIBC_RECORD_MAGIC "CUFLREC"
#define CUFAULT_LIBC_PLAN_VERSION 1u
#define CUFAULT_LIBC_PLAN_VARIABLE "CUFAULT_LIBC_PLAN"
#define CUFAULT_LIBC_NAME 64
#define CUFAULT_LIBC_MOST_RULES 64

/* What a rule may watch, as bits of cufault_libc_rule.functions; a firing names one of them. */
enum cufault_libc_function {
  CUFAULT_LIBC_MALLOC = 1u << 0,
  CUFAULT_LIBC_CALLOC = 1u << 1,
  CUFAULT_LIBC_REALLOC = 1u << 2,      /* realloc and reallocarray, unless they free (size 0) */
  CUFAULT_LIBC_MEMALIGN = 1u << 3,     /* memalign, aligned_alloc, posix_memalign, valloc, pvalloc */
  CUFAULT_LIBC_OPERATOR_NEW = 1u << 4, /* every replaceable operator new and new[] */
  CUFAULT_LIBC_CLOSE = 1u << 5         /* stands alone: it shares no rule with an allocation */
};

enum cufault_libc_rule_flag {
  CUFAULT_LIBC_REALLY_CLOSE = 1u << 0 /* close: the descriptor is closed, and then the error is answered */
};

struct cufault_libc_plan_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* sizeof(struct cufault_libc_plan_header) */
  uint64_t file_size;
  uint64_t checksum;        /* FNV-1a, 64 bits, over the whole file with this field taken as zero */
  uint32_t run_folder;      /* string, absolute; libc.<pid> is made here */
  uint32_t firing_capacity; /* 0 = 1024 */
  uint32_t rules_at, rule_count;
  uint32_t strings_at, strings_size;
  uint32_t reserved[10]; /* zero */
};

/* Of an allocation: it gives nullptr with ENOMEM, and operator new throws. Of close: it gives -1 with `error`. */
struct cufault_libc_rule {
  uint32_t label;     /* string: unique in the plan, at most CUFAULT_LIBC_NAME - 1 bytes */
  uint32_t functions; /* cufault_libc_function; never 0 */
  uint32_t module; /* string: glob (* ? [a-z] [!x]) of the basename of the module that calls; not given = any caller */
  uint32_t flags;  /* cufault_libc_rule_flag */
  uint64_t from;   /* first ordinal that fires, counted from 1 among calls that pass every filter; never 0 */
  uint64_t every;  /* then every k-th; never 0 */
  uint64_t limit;  /* fires at most so often; 0 = no limit */
  uint64_t least_size;  /* allocations of fewer bytes do not count */
  uint64_t most_size;   /* nor do larger ones; 0 = no limit */
  int32_t descriptor;   /* close: this one only; -1 = any */
  int32_t error;        /* close: the errno answered, never 0; allocations: 0, they always say ENOMEM */
  uint32_t reserved[6]; /* zero */
};

struct cufault_libc_record_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* sizeof(struct cufault_libc_record_header) */
  uint64_t file_size;
  uint64_t plan_checksum; /* of the plan that this process read */
  uint64_t start_ns;      /* CLOCK_MONOTONIC */
  uint32_t pid;
  uint32_t parent_pid; /* the preloaded process this one was forked from, else getppid() */
  uint32_t forked;     /* 1: made by fork from a process that had already started */
  uint32_t rule_count;
  uint32_t firing_capacity;
  uint32_t reserved32;
  uint64_t firings;      /* how often anything fired, those included for which there was no room */
  uint64_t modules_lost; /* calls whose module could not be found out for want of memory; they matched nothing */
  uint64_t reserved[6];
};

struct cufault_libc_rule_count {
  char label[CUFAULT_LIBC_NAME];
  uint64_t matched; /* calls that passed every filter: what `from` counts */
  uint64_t fired;
};

enum cufault_libc_firing_state { CUFAULT_LIBC_FIRING_EMPTY = 0, CUFAULT_LIBC_FIRING_COMPLETE = 1 };

struct cufault_libc_firing {
  uint32_t state;    /* cufault_libc_firing_state, stored last */
  uint32_t rule;     /* index + 1 */
  uint32_t function; /* cufault_libc_function */
  uint32_t tid;
  uint64_t time_ns;               /* CLOCK_MONOTONIC */
  uint64_t ordinal;               /* the rule's number of this call */
  uint64_t value;                 /* bytes asked for, or the descriptor */
  uint64_t module_offset;         /* return address less the module's base, as addr2line wants it */
  char module[CUFAULT_LIBC_NAME]; /* basename, cut if it does not fit; empty = the address is in none */
  uint64_t reserved[2];
};

#ifdef __cplusplus
}
static_assert(sizeof(cufault_libc_plan_header) == 96, "libc plan format 1 is frozen");
static_assert(sizeof(cufault_libc_rule) == 88, "libc plan format 1 is frozen");
static_assert(sizeof(cufault_libc_record_header) == 128, "libc plan format 1 is frozen");
static_assert(sizeof(cufault_libc_rule_count) == 80, "libc plan format 1 is frozen");
static_assert(sizeof(cufault_libc_firing) == 128, "libc plan format 1 is frozen");
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: what the shim writes down about every driver call, in fixed records of memory-mapped files. */
#ifndef CUFAULT_TRACE_FORMAT_H
#define CUFAULT_TRACE_FORMAT_H

/*
 * Files of one run folder, version 1, little endian:
 *
 *   process.<pid>                   cufault_process_header, then the NUL-terminated strings it names
 *   trace.<pid>.<thread>.<segment>  cufault_trace_header, then cufault_trace_record[capacity]; thread and segment count from 1
 *   stacks.<pid>                    cufault_stacks_header, then stack entries, each stack once
 *   maps.<pid>                      a copy of /proc/self/maps, for symbols looked up afterwards
 *
 * A record is written with state OPEN before the call is forwarded and set to COMPLETE afterwards, each with one
 * release store of `state`, which comes last: whatever is killed, everything before the current call can be read.
 * A record whose state is EMPTY ends a segment. Records of one thread are in order; between threads CLOCK_MONOTONIC orders.
 * A symbol is an index into the names of process.<pid>, so a trace is readable without the build that wrote it.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUFAULT_TRACE_MAGIC "CUFTRAC"
#define CUFAULT_PROCESS_MAGIC "CUFPROC"
#define CUFAULT_STACKS_MAGIC "CUFSTAK"
#define CUFAULT_TRACE_VERSION 1u
#define CUFAULT_TRACE_ARGS 12
#define CUFAULT_TRACE_OUTS 4
#define CUFAULT_TRACE_TEXT 176
#define CUFAULT_NOT_FORWARDED (-1)
#define CUFAULT_NOT_ANSWERED (-2)

enum cufault_record_state { CUFAULT_RECORD_EMPTY = 0, CUFAULT_RECORD_OPEN = 1, CUFAULT_RECORD_COMPLETE = 2 };

enum cufault_record_type {
  CUFAULT_RECORD_CALL = 1,        /* body.call */
  CUFAULT_RECORD_STEP_BEGIN = 2,  /* body.text: text = the step's name, value = its id, other = context current then */
  CUFAULT_RECORD_STEP_END = 3,    /* likewise */
  CUFAULT_RECORD_HANDLE_NAME = 4, /* body.text: text = name, kind = handle kind + 1, value = handle */
  CUFAULT_RECORD_UNMODELLED = 5,  /* body.text: the simulator does not model `symbol`; text says what in it */
  CUFAULT_RECORD_MISUSE = 6,      /* body.text: kind = cufault_misuse, value = handle, other = stack id of where it was made or destroyed */
  CUFAULT_RECORD_LOOKUP = 7,      /* body.text: text = name asked of cuGetProcAddress, value = version, other = flags; kind = cufault_lookup */
  CUFAULT_RECORD_NOTE = 8         /* body.text: kind = cufault_note */
};

enum cufault_record_flag {
  CUFAULT_CALL_INJECTED = 1u << 0,     /* result_given comes from the plan */
  CUFAULT_CALL_NESTED = 1u << 1,       /* made while the driver was calling back */
  CUFAULT_CALL_FAULT_STATE = 1u << 2,  /* answered by an earlier sticky or shutdown fault, not by a rule firing here */
  CUFAULT_CALL_UNRECORDED = 1u << 3,   /* forwarded under a sticky fault although nobody recorded what hardware does */
  CUFAULT_CALL_CONTEXT_KNOWN = 1u << 4,/* context_before and context_after are mirrored, not merely 0 */
  CUFAULT_CALL_ENTER = 1u << 5,        /* a switch away from the step's context */
  CUFAULT_CALL_RESTORE = 1u << 6,      /* a switch back to it */
  CUFAULT_CALL_MATCHED = 1u << 7       /* `ordinal` is this call's number among those that `rule` matches */
};

enum cufault_misuse {
  CUFAULT_MISUSE_USE_AFTER_DESTROY = 1,
  CUFAULT_MISUSE_DOUBLE_DESTROY = 2,
  CUFAULT_MISUSE_WRONG_CONTEXT = 3,
  CUFAULT_MISUSE_FOREIGN_POINTER = 4,
  CUFAULT_MISUSE_OUT_OF_BOUNDS = 5,
  CUFAULT_MISUSE_DESTROY_WITH_WORK = 6,
  CUFAULT_MISUSE_LEAK_AT_EXIT = 7,
  CUFAULT_MISUSE_GARBAGE_HANDLE = 8,
  CUFAULT_MISUSE_WOULD_CRASH = 9 /* the real driver kills the process here */
};

enum cufault_lookup {
  CUFAULT_LOOKUP_REPLACED = 1,  /* found, and the shim's own entry was handed out */
  CUFAULT_LOOKUP_PASSED = 2,    /* found, but the shim does not know it: its calls are invisible */
  CUFAULT_LOOKUP_NOT_FOUND = 3, /* the driver does not have it */
  CUFAULT_LOOKUP_HIDDEN = 4     /* effect `missing` */
};

enum cufault_note {
  CUFAULT_NOTE_EXPORT_TABLE = 1, /* a private table was handed out: calls through it are invisible */
  CUFAULT_NOTE_EXIT = 2,         /* the shim saw the process end in good order */
  CUFAULT_NOTE_RULE_COUNT = 3,   /* at exit: value = rule index + 1, other = times fired, kind2 = times matched */
  CUFAULT_NOTE_TEXT = 4          /* free text of the library under test, through cufault_note() */
};

struct cufault_call_body {
  uint32_t symbol;
  int32_t result_given; /* CUFAULT_NOT_ANSWERED while open */
  int32_t result_real;  /* CUFAULT_NOT_FORWARDED if the driver was not asked */
  uint32_t rule;        /* index + 1 of the rule that fired, else 0 */
  uint64_t ordinal;     /* see CUFAULT_CALL_MATCHED */
  uint64_t context_before;
  uint64_t context_after;
  uint32_t stack; /* id in stacks.<pid>, 0 = none */
  uint8_t argc;   /* of the function; args holds the first CUFAULT_TRACE_ARGS of them */
  uint8_t outc;
  uint8_t out_arg[CUFAULT_TRACE_OUTS]; /* outs[i] is what the pointer args[out_arg[i]] held after success */
  uint8_t reserved8[6];
  uint64_t args[CUFAULT_TRACE_ARGS]; /* integers zero-extended, floats by bits, a struct by value as its first 8 bytes */
  uint64_t outs[CUFAULT_TRACE_OUTS];
  uint64_t reserved[3];
};

struct cufault_text_body {
  uint32_t kind;
  uint32_t symbol;
  uint64_t value;
  uint64_t other;
  uint64_t third;
  char text[CUFAULT_TRACE_TEXT]; /* NUL-terminated; what does not fit ends in "..." */
  uint64_t reserved;
};

struct cufault_trace_record {
  uint32_t state; /* cufault_record_state, stored last */
  uint16_t type;  /* cufault_record_type */
  uint16_t reserved16;
  uint64_t sequence; /* per thread, from 1, over all segments, lost ones counted */
  uint64_t begin_ns; /* CLOCK_MONOTONIC */
  uint64_t end_ns;
  uint32_t step;  /* id of the open step; 0 = none, the implicit `start` */
  uint32_t flags; /* cufault_record_flag */
  union {
    struct cufault_call_body call;
    struct cufault_text_body text;
  } body;
};

struct cufault_trace_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* offset of the first record: 4096 */
  uint32_t record_size; /* 256 */
  uint32_t capacity;    /* records reserved in this file */
  uint32_t pid;
  uint32_t tid;
  uint32_t thread;  /* ordinal in order of first driver call, from 1 */
  uint32_t segment; /* from 1 */
  uint64_t lost;    /* records of this thread that found no room, counted in its last segment */
  char thread_name[16];
  uint64_t reserved[8];
};

struct cufault_process_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size;
  uint64_t file_size;
  uint64_t api_hash; /* of api_table.h in the shim that wrote this */
  uint64_t start_ns; /* CLOCK_MONOTONIC */
  uint64_t start_realtime_ns;
  uint32_t pid;
  uint32_t parent_pid; /* the preloaded process this one was forked from, else getppid() */
  uint32_t backend;    /* cufault_backend */
  uint32_t driver_version; /* cuDriverGetVersion of the backend, 0 = it would not say */
  uint32_t symbol_count;
  uint32_t symbols_at; /* symbol_count strings, one after another */
  uint32_t rule_count;
  uint32_t rules_at; /* rule_count labels, likewise */
  uint32_t backend_path_at;
  uint32_t program_at; /* /proc/self/exe */
  uint32_t uncovered_count; /* names asked of dlsym on the backend that it exports and the shim does not */
  uint32_t forked;          /* 1: made by fork from a process that had already started */
  uint64_t reserved[8];
};

struct cufault_stacks_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size;
  uint64_t used; /* bytes of entries that are complete */
  uint64_t lost;
  uint64_t reserved[4];
};

/* An entry: this head, then depth return addresses (uint64), innermost first. Ids count from 1 in file order. */
struct cufault_stack_entry {
  uint32_t id;
  uint32_t depth;
  uint64_t hash;
};

#ifdef __cplusplus
}
static_assert(sizeof(cufault_call_body) == 208, "trace format 1 is frozen");
static_assert(sizeof(cufault_text_body) == 216, "trace format 1 is frozen");
static_assert(sizeof(cufault_trace_record) == 256, "trace format 1 is frozen");
static_assert(sizeof(cufault_trace_header) == 128, "trace format 1 is frozen");
static_assert(sizeof(cufault_process_header) == 160, "trace format 1 is frozen");
static_assert(sizeof(cufault_stacks_header) == 64, "trace format 1 is frozen");
static_assert(sizeof(cufault_stack_entry) == 16, "trace format 1 is frozen");
#endif

#endif

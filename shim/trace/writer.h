/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace files of one process: who it is, and what each of its threads called. */
#ifndef CUFAULT_TRACE_WRITER_H
#define CUFAULT_TRACE_WRITER_H

/*
 * One writer a process, one log a thread; a log is touched by its thread only. Space is reserved before anything is
 * mapped, because a write into a hole on a full disk would kill the program with SIGBUS. Files appear under their names
 * complete with header (written aside, then linked), so a reader never meets half of one. Nothing here allocates from
 * the heap or takes a lock.
 */

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "clock.h"
#include "cufault/trace_format.h"
#include "process/refuse.h"

namespace cufault::trace {

class new_file;

/* What process.<pid> says. Every pointer lives as long as the call. */
struct process_facts {
  std::uint64_t api_hash = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t backend = 0;
  std::uint32_t driver_version = 0;
  std::uint32_t uncovered_count = 0;
  bool forked = false;
  std::string_view backend_path;
  std::uint32_t symbol_count = 0;
  const char *(*symbol_name)(std::uint32_t index) = nullptr;
  std::uint32_t rule_count = 0;
  const char *(*rule_label)(std::uint32_t index, const void *plan) = nullptr;
  const void *plan = nullptr;
};

/* One thread's place in its files. All zero is a log that was not opened. */
struct log {
  cufault_trace_header *segment;
  cufault_trace_record *records;
  std::uint32_t used;
  std::uint32_t segment_number;
  std::uint32_t thread;
  std::uint32_t open_records;
  std::uint64_t sequence;
  clock_anchor clock;
  bool ended; /* no further segment will be had */
};

struct text_fields {
  std::uint16_t type = CUFAULT_RECORD_NOTE;
  std::uint32_t kind = 0;
  std::uint32_t symbol = 0;
  std::uint64_t value = 0;
  std::uint64_t other = 0;
  std::uint64_t third = 0;
  std::string_view text;
};

class writer {
 public:
  /*
   * Writes process.<pid>. `folder` is kept. False: `why` says what went wrong. A program that the process runs by exec
   * after another continues that one's files: its threads are numbered on.
   */
  [[nodiscard]] bool start(const char *folder, std::uint32_t segment_records, std::uint32_t segments_per_thread,
                           const process_facts &facts, process::message &why) noexcept;
  [[nodiscard]] bool started() const noexcept { return started_; }
  /* Whether an earlier program of this process has written here before. */
  [[nodiscard]] bool continued() const noexcept { return continued_; }

  /* Reserves and maps the thread's first segment. False: there is no room. */
  [[nodiscard]] bool open(log &log, std::uint32_t thread, std::uint32_t tid) noexcept;
  /* Lets go of the memory of a thread that has ended; its files stay. */
  void forget(log &log) noexcept;

  /* The thread's next record, numbered and timed but EMPTY; nullptr: it was counted as lost. */
  [[nodiscard]] cufault_trace_record *next(log &log, std::uint16_t type, std::uint32_t step) noexcept;
  [[nodiscard]] std::uint64_t now(log &log) noexcept { return clock_.now(log.clock); }
  /* All but the state must be written before. */
  static void publish_open(log &log, cufault_trace_record &record) noexcept;
  static void publish_complete(log &log, cufault_trace_record &record) noexcept;

  /* A whole record at once. */
  void write_text(log &log, std::uint32_t step, const text_fields &fields) noexcept;

 private:
  [[nodiscard]] bool map_segment(log &log, std::uint32_t tid, bool busy) noexcept;
  [[nodiscard]] bool publish_segment(new_file &file, cufault_trace_header &head) noexcept;
  [[nodiscard]] bool rotate(log &log) noexcept;
  void count_lost(log &log) noexcept;

  monotonic_clock clock_;
  const char *folder_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t segments_ = 0;
  std::uint32_t pid_ = 0;
  /* Threads that have files of an earlier program of the same process, which called exec. */
  std::atomic<std::uint32_t> earlier_threads_{0};
  bool continued_ = false;
  cufault_trace_header *first_segment_ = nullptr;
  bool started_ = false;
};

}  // namespace cufault::trace

#endif

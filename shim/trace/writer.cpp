// SPDX-License-Identifier: Apache-2.0
// Process files, segments and records of the trace.
#include "writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "clock.h"
#include "files.h"
#include "process/memory.h"

namespace cufault::trace {
namespace {

constexpr std::uint32_t header_size = 4096;
constexpr std::uint32_t default_records = 4096;
constexpr std::uint32_t default_segments = 256;

// One release store makes a record visible: whoever is killed, a reader sees all of a record or none of it.
void publish(cufault_trace_record &record, std::uint32_t state) noexcept {
  std::atomic_ref<std::uint32_t>(record.state).store(state, std::memory_order_release);
}

std::size_t segment_size(std::uint32_t capacity) noexcept {
  return header_size + std::size_t{capacity} * sizeof(cufault_trace_record);
}

// Strings one after another: counted first, with no memory, then copied.
struct strings {
  char *into;
  std::uint32_t at;

  std::uint32_t put(std::string_view text) noexcept {
    const std::uint32_t here = at;
    at += static_cast<std::uint32_t>(text.size() + 1);
    if (into != nullptr) std::memcpy(into + here, text.data(), text.size());
    return here;
  }
};

void put_strings(strings &to, cufault_process_header &head, const process_facts &facts, const char *program) noexcept {
  head.symbols_at = to.at;
  for (std::uint32_t i = 0; i < facts.symbol_count; ++i) to.put(facts.symbol_name(i));
  head.rules_at = to.at;
  for (std::uint32_t i = 0; i < facts.rule_count; ++i) to.put(facts.rule_label(i, facts.plan));
  head.backend_path_at = to.put(facts.backend_path);
  head.program_at = to.put(program);
  head.file_size = to.at;
}

// Whether the file's numbers mean what ours would.
bool same_build(const char *file, const cufault_process_header &ours) noexcept {
  const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  cufault_process_header theirs{};
  const bool whole = ::read(descriptor, &theirs, sizeof theirs) == static_cast<ssize_t>(sizeof theirs);
  ::close(descriptor);
  return whole && std::memcmp(theirs.magic, ours.magic, sizeof ours.magic) == 0 && theirs.version == ours.version &&
         theirs.api_hash == ours.api_hash && theirs.rule_count == ours.rule_count;
}

}  // namespace

bool writer::start(const char *folder, std::uint32_t segment_records, std::uint32_t segments_per_thread,
                   const process_facts &facts, process::message &why) noexcept {
  folder_ = folder;
  capacity_ = segment_records == 0 ? default_records : segment_records;
  segments_ = segments_per_thread == 0 ? default_segments : segments_per_thread;
  pid_ = static_cast<std::uint32_t>(::getpid());
  first_segment_ = nullptr;
  started_ = false;
  clock_.start();
  continued_ = false;
  earlier_threads_.store(0, std::memory_order_relaxed);

  char program[4096];
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';

  cufault_process_header head{};
  std::memcpy(head.magic, CUFAULT_PROCESS_MAGIC, sizeof head.magic);
  head.version = CUFAULT_TRACE_VERSION;
  head.header_size = sizeof head;
  head.api_hash = facts.api_hash;
  head.start_ns = read_clock(CLOCK_MONOTONIC);
  head.start_realtime_ns = read_clock(CLOCK_REALTIME);
  head.pid = pid_;
  head.parent_pid = facts.parent_pid;
  head.backend = facts.backend;
  head.driver_version = facts.driver_version;
  head.symbol_count = facts.symbol_count;
  head.rule_count = facts.rule_count;
  head.uncovered_count = facts.uncovered_count;
  head.forked = facts.forked ? 1 : 0;
  strings counted{nullptr, sizeof head};
  put_strings(counted, head, facts, program);

  auto *const whole = static_cast<char *>(process::map_pages(head.file_size));
  if (whole == nullptr) {
    why << "no memory for the trace";
    return false;
  }
  strings content{whole, sizeof head};
  put_strings(content, head, facts, program);
  std::memcpy(whole, &head, sizeof head);
  new_file file(folder, pid_, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  bool written = file.ok() && file.write(whole, head.file_size);
  process::unmap_pages(whole, head.file_size);
  path name;
  name << folder << "/process." << pid_;
  if (written && !file.publish(name.c_str())) {
    continued_ = file.error() == EEXIST && same_build(name.c_str(), head);
    written = continued_;
  }
  if (!written) {
    why << "no trace can be written to " << folder << ": " << std::strerror(file.error());
    return false;
  }
  started_ = true;
  return true;
}

bool writer::open(log &log, std::uint32_t thread, std::uint32_t tid) noexcept {
  log = {};
  log.thread = thread;
  log.segment_number = 1;
  log.ended = !map_segment(log, tid, false);
  return !log.ended;
}

void writer::forget(log &log) noexcept {
  // The first segment of the process also counts what threads lost that never had a file.
  if (log.segment != nullptr && log.segment != first_segment_) ::munmap(log.segment, segment_size(capacity_));
  log = {};
}

bool writer::map_segment(log &log, std::uint32_t tid, bool busy) noexcept {
  const std::size_t size = segment_size(capacity_);
  new_file file(folder_, pid_, tid);
  if (!file.ok() || !file.reserve(size) || (busy && !file.fill(size))) return false;
  auto *const head = static_cast<cufault_trace_header *>(file.map(size));
  if (head == nullptr) return false;
  std::memcpy(head->magic, CUFAULT_TRACE_MAGIC, sizeof head->magic);
  head->version = CUFAULT_TRACE_VERSION;
  head->header_size = header_size;
  head->record_size = sizeof(cufault_trace_record);
  head->capacity = capacity_;
  head->pid = pid_;
  head->tid = tid;
  head->thread = log.thread;
  head->segment = log.segment_number;
  ::prctl(PR_GET_NAME, head->thread_name);
  if (!publish_segment(file, *head)) {
    ::munmap(head, size);
    return false;
  }
  log.thread = head->thread;
  log.segment = head;
  log.records = reinterpret_cast<cufault_trace_record *>(reinterpret_cast<char *>(head) + header_size);
  log.used = 0;
  if (first_segment_ == nullptr) first_segment_ = head;
  return true;
}

bool writer::publish_segment(new_file &file, cufault_trace_header &head) noexcept {
  const std::uint32_t first = head.segment == 1 ? head.thread + earlier_threads_.load(std::memory_order_relaxed) : head.thread;
  for (std::uint32_t thread = first;; ++thread) {
    head.thread = thread;
    path name;
    name << folder_ << "/trace." << pid_ << "." << thread << "." << head.segment;
    if (file.publish(name.c_str())) {
      if (thread != first) earlier_threads_.fetch_add(thread - first, std::memory_order_relaxed);
      return true;
    }
    if (file.error() != EEXIST || !continued_ || head.segment != 1) return false;
  }
}

bool writer::rotate(log &log) noexcept {
  if (log.ended || log.segment == nullptr || log.segment_number >= segments_) {
    log.ended = true;
    return false;
  }
  const int saved_errno = errno;
  cufault_trace_header *const full = log.segment;
  ++log.segment_number;
  if (!map_segment(log, full->tid, true)) {
    log.ended = true;
  } else if (log.open_records == 0 && full != first_segment_) {
    // With a record still open in it, a call further up will complete it there: then it stays mapped.
    ::munmap(full, segment_size(capacity_));
  }
  errno = saved_errno;
  return !log.ended;
}

void writer::count_lost(log &log) noexcept {
  // A thread that never got a file counts in the first one of the process, so that no loss goes unseen.
  cufault_trace_header *const at = log.segment != nullptr ? log.segment : first_segment_;
  if (at != nullptr) std::atomic_ref<std::uint64_t>(at->lost).fetch_add(1, std::memory_order_relaxed);
}

cufault_trace_record *writer::next(log &log, std::uint16_t type, std::uint32_t step) noexcept {
  ++log.sequence;
  if (log.segment == nullptr || (log.used == capacity_ && !rotate(log))) {
    count_lost(log);
    return nullptr;
  }
  cufault_trace_record &record = log.records[log.used++];
  record.type = type;
  record.sequence = log.sequence;
  record.begin_ns = now(log);
  record.step = step;
  return &record;
}

void writer::publish_open(log &log, cufault_trace_record &record) noexcept {
  ++log.open_records;
  publish(record, CUFAULT_RECORD_OPEN);
}

void writer::publish_complete(log &log, cufault_trace_record &record) noexcept {
  --log.open_records;
  publish(record, CUFAULT_RECORD_COMPLETE);
}

void writer::write_text(log &log, std::uint32_t step, const text_fields &fields) noexcept {
  cufault_trace_record *const record = next(log, fields.type, step);
  if (record == nullptr) return;
  cufault_text_body &body = record->body.text;
  body.kind = fields.kind;
  body.symbol = fields.symbol;
  body.value = fields.value;
  body.other = fields.other;
  body.third = fields.third;
  process::text<CUFAULT_TRACE_TEXT> text;
  text << fields.text;
  std::memcpy(body.text, text.c_str(), text.size() + 1);
  record->end_ns = record->begin_ns;
  publish(*record, CUFAULT_RECORD_COMPLETE);
}

}  // namespace cufault::trace

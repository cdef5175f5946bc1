// SPDX-License-Identifier: Apache-2.0
// Formats and delivers the reports of failures that cannot be raised.
#include "cufault/handles/report.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cufault::handles {
namespace {

constinit std::atomic<report_sink*> sink_in_force{nullptr};
thread_local report_scope* outermost_scope = nullptr;

// Appends to a report's line; what does not fit is cut off.
class line_writer {
 public:
  explicit line_writer(report_line& line) noexcept : line_(line) { line_.text[0] = '\0'; }

  void add(const char* text) noexcept {
    const std::size_t room = sizeof line_.text - 1 - used_;
    const std::size_t length = std::strlen(text);
    const std::size_t taken = length < room ? length : room;
    std::memcpy(line_.text + used_, text, taken);
    used_ += taken;
    line_.text[used_] = '\0';
  }

  void add_handle(std::uint64_t handle) noexcept {
    char text[2 + 16 + 1];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(handle));
    add(text);
  }

  void add_error(CUresult code) noexcept {
    const driver_table* table = loaded_driver();
    const char* name = nullptr;
    if (table == nullptr || table->cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) {
      char number[32];
      std::snprintf(number, sizeof number, "CUresult %d", static_cast<int>(code));
      add(number);
      return;
    }
    add(name);
    const char* description = nullptr;
    if (table->cuGetErrorString(code, &description) == CUDA_SUCCESS && description != nullptr) {
      add(": ");
      add(description);
    }
  }

 private:
  report_line& line_;
  std::size_t used_ = 0;
};

void deliver(const report& what) noexcept {
  if (report_sink* sink = sink_in_force.load(std::memory_order_acquire)) {
    sink->deliver(what);
  } else {
    report_to_stderr(what);
  }
}

}  // namespace

report_line report_text(const report& what) noexcept {
  report_line line;
  line_writer writer(line);
  writer.add(what.what.call);
  if (what.what.handle != 0 || what.restoring != restoration::no) {
    writer.add("(");
    writer.add_handle(what.what.handle);
    writer.add(")");
  }
  if (what.what.missing) {
    writer.add(" is not in this driver: ");
  } else {
    writer.add(" failed: ");
  }
  if (what.what.other != nullptr) {
    writer.add(what.what.other);
  } else {
    writer.add_error(what.what.code);
  }
  writer.add("; ");
  writer.add(what.consequence);
  if (what.restoring == restoration::current_known && what.current != nullptr) {
    writer.add("; context ");
    writer.add_handle(as_number(what.current));
    writer.add(" is current now");
  } else if (what.restoring == restoration::current_known) {
    writer.add("; no context is current now");
  } else if (what.restoring == restoration::current_unknown) {
    writer.add("; which context is current now is unknown");
  }
  if (what.restoring != restoration::no) {
    writer.add("; call Device.set_current()");
  }
  return line;
}

report_sink* exchange_report_sink(report_sink* sink) noexcept {
  return sink_in_force.exchange(sink, std::memory_order_acq_rel);
}

void report_to_stderr(const report& what) noexcept {
  const report_line line = report_text(what);
  std::fprintf(stderr, "cufault.handles: %s\n", line.text);
}

void report_failure(const report& what) noexcept {
  if (!what.what || what.what.code == CUDA_ERROR_DEINITIALIZED) {
    return;
  }
  report_scope* scope = outermost_scope;
  if (scope == nullptr) {
    deliver(what);
  } else if (scope->count_ < report_scope::places) {
    scope->held_[scope->count_++] = what;
  } else {
    scope->overflowed_ = true;
  }
}

report_scope::report_scope() noexcept : outermost_(outermost_scope == nullptr) {
  if (outermost_) {
    outermost_scope = this;
  }
}

report_scope::~report_scope() {
  if (!outermost_) {
    return;
  }
  outermost_scope = nullptr;
  for (unsigned i = 0; i < count_; ++i) {
    deliver(held_[i]);
  }
  if (overflowed_) {
    deliver(
        report{held_[places - 1].what, "more failures followed than places to keep them", restoration::no, nullptr});
  }
}

}  // namespace cufault::handles

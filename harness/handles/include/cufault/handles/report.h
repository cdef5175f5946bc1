// SPDX-License-Identifier: Apache-2.0
// The one channel for failures that cannot be raised.
#ifndef CUFAULT_HANDLES_REPORT_H
#define CUFAULT_HANDLES_REPORT_H

#include "cufault/handles/error.h"

namespace cufault::handles {

// Whether a report is about a context that could not be restored, and if so, whether it is known which one is current
// now.
enum class restoration { no, current_known, current_unknown };

// What a failure that could not be raised left behind. Trivial, so that places for it cost nothing until one is needed.
struct report {
  failure what;
  const char* consequence;  // static storage: "the stream is leaked"
  restoration restoring;
  CUcontext current;  // with current_known: null means that no context is current
};

// "cuStreamDestroy(0x55d0) failed: CUDA_ERROR_X: description; the stream is leaked", in a buffer of its own, since the
// text is also needed where there is no memory left. What does not fit is cut off.
struct report_line {
  char text[640];
};
[[nodiscard]] report_line report_text(const report& what) noexcept;

// Where reports go. deliver() runs with the caller's context restored and no lock of the layer held (P19), so that it
// may run user code and call back into the layer; it must not throw. The sink must outlive its being in force.
class report_sink {
 public:
  virtual void deliver(const report& what) noexcept = 0;

 protected:
  ~report_sink() = default;
};

// Puts a sink in force, null for the default: one line on stderr. Returns the one before (null: the default).
report_sink* exchange_report_sink(report_sink* sink) noexcept;

// The default sink's deliver(); also what another sink falls back to where it cannot do its own work.
void report_to_stderr(const report& what) noexcept;

// Reports one failure, now or, inside a report_scope of this thread, when that one ends. CUDA_SUCCESS and
// CUDA_ERROR_DEINITIALIZED (the driver is shutting down, nothing is left to clean up: P15) are not reported.
void report_failure(const report& what) noexcept;

// Holds this thread's reports back until the outermost one ends. Opened before a context is switched and before a lock
// is taken. Allocates nothing; one last report tells if there
// were more than its places hold.
class report_scope {
 public:
  report_scope() noexcept;
  ~report_scope();
  report_scope(const report_scope&) = delete;
  report_scope& operator=(const report_scope&) = delete;

 private:
  friend void report_failure(const report&) noexcept;

  static constexpr unsigned places = 8;
  bool outermost_;
  unsigned count_ = 0;
  bool overflowed_ = false;
  report held_[places];
};

}  // namespace cufault::handles

#endif

// SPDX-License-Identifier: Apache-2.0
// A report sink for tests, and matchers for what it has recorded.
#ifndef CUFAULT_HANDLES_TESTING_REPORT_RECORDER_H
#define CUFAULT_HANDLES_TESTING_REPORT_RECORDER_H

#include <gmock/gmock.h>

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cufault/handles/report.h"

namespace cufault::handles::testing {

struct recorded_report {
  std::string call;
  std::uint64_t handle;
  CUresult code;
  std::string text;
};

inline void PrintTo(const recorded_report& report, std::ostream* out) { *out << report.text; }

// In force while it lives; keeps every report of every thread that runs meanwhile (not at the same time).
class report_recorder final : public report_sink {
 public:
  report_recorder() : before_(exchange_report_sink(this)) {}
  ~report_recorder() { exchange_report_sink(before_); }
  report_recorder(const report_recorder&) = delete;
  report_recorder& operator=(const report_recorder&) = delete;

  void deliver(const report& what) noexcept override {
    reports_.push_back({what.what.call, what.what.handle, what.what.code, report_text(what).text});
    if (on_delivery) {
      on_delivery();
    }
  }

  [[nodiscard]] const std::vector<recorded_report>& reports() const noexcept { return reports_; }

  // Runs inside each delivery, as a warning filter of the user's would.
  std::function<void()> on_delivery;

 private:
  report_sink* before_;
  std::vector<recorded_report> reports_;
};

// EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuStreamDestroy", stream, CUDA_ERROR_INVALID_CONTEXT)));
template <class Native>
[[nodiscard]] auto Reported(const std::string& call, Native handle, CUresult code) {
  return ::testing::AllOf(::testing::Field("call", &recorded_report::call, call),
                          ::testing::Field("handle", &recorded_report::handle, as_number(handle)),
                          ::testing::Field("code", &recorded_report::code, code),
                          ::testing::Field("text", &recorded_report::text, ::testing::HasSubstr(call)));
}

}  // namespace cufault::handles::testing

#endif

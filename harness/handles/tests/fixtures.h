// SPDX-License-Identifier: Apache-2.0
// What the unit tests share: a mocked driver with recorded reports, and handles to pass around.
#ifndef CUFAULT_HANDLES_TESTS_FIXTURES_H
#define CUFAULT_HANDLES_TESTS_FIXTURES_H

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "cufault/handles/context.h"
#include "cufault/handles/testing/driver_double.h"
#include "cufault/handles/testing/report_recorder.h"

namespace cufault::handles {

using ::testing::_;
using ::testing::DoAll;
using testing::driver_double;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::report_recorder;
using testing::Reported;
using ::testing::Return;
using ::testing::SetArgPointee;

// A handle that is only ever compared.
template <class Handle>
Handle made_up(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

inline const auto callers = made_up<CUcontext>(0xca11e5);
inline const auto target = made_up<CUcontext>(0x7a59e7);

// The error that an action throws; a test failure if it throws none.
template <class Action>
cuda_error error_of(Action action) {
  try {
    action();
  } catch (const cuda_error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return cuda_error(no_failure);
}

// Tests on a mocked driver, in any order unless the test says otherwise; the target context is current unless a test
// expects something else.
class on_a_mocked_driver : public ::testing::Test {
 protected:
  // For tests in which switching contexts is not the point.
  void target_is_current() {
    EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillRepeatedly(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  }
  // The target context, owned by somebody else.
  shared<context> in_target() { return context::foreign(target, 0); }

  driver_double driver;
  report_recorder recorder;
};

}  // namespace cufault::handles

#endif

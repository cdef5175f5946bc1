// SPDX-License-Identifier: Apache-2.0
// A driver of GoogleMock functions, in force while it lives.
#ifndef CUFAULT_HANDLES_TESTING_DRIVER_DOUBLE_H
#define CUFAULT_HANDLES_TESTING_DRIVER_DOUBLE_H

#include <gmock/gmock.h>

#include <type_traits>

#include "cufault/handles/driver_table.h"

namespace cufault::handles::testing {

// Every entry of the table is a strict mock of the same name:
//   driver_double driver;
//   EXPECT_CALL(driver.cuStreamDestroy, Call(stream)).WillOnce(Return(CUDA_SUCCESS));
// A call that nobody expects fails the test. Error names and descriptions are answered by themselves: "CUDA_ERROR_X"
// stands as "NAME_<code>", its description as "text of <code>".
class driver_double {
 public:
  driver_double();
  ~driver_double();
  driver_double(const driver_double&) = delete;
  driver_double& operator=(const driver_double&) = delete;

  // Takes a function out of the driver, as an older one would lack it.
  template <class Pointer>
  static void remove(driver_function<Pointer>& entry) {
    entry.address = nullptr;
  }
  [[nodiscard]] driver_table& table() noexcept { return table_; }

#define CUFAULT_DRIVER_FUNCTION(name, version) \
  ::testing::StrictMock<::testing::MockFunction<std::remove_pointer_t<PFN_##name##_v##version>>> name;
#include "cufault/handles/driver_functions.inc"
#undef CUFAULT_DRIVER_FUNCTION

 private:
  driver_table table_;
  const driver_table* before_;
};

}  // namespace cufault::handles::testing

#endif

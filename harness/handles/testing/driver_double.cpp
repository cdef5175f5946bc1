// SPDX-License-Identifier: Apache-2.0
// Puts the mocks behind a driver table.
#include "cufault/handles/testing/driver_double.h"

#include <map>
#include <string>

namespace cufault::handles::testing {
namespace {

driver_double* active = nullptr;

const char* kept_text(const std::string& text) {
  static std::map<std::string, std::string> texts;  // the driver's texts live as long as the process
  return texts.try_emplace(text, text).first->second.c_str();
}

}  // namespace

driver_double::driver_double() {
  active = this;
  table_.driver_version = 13000;
#define CUFAULT_DRIVER_FUNCTION(name, version) \
  table_.name.address = [](auto... args) -> CUresult { return active->name.Call(args...); };
#include "cufault/handles/driver_functions.inc"
#undef CUFAULT_DRIVER_FUNCTION
  using ::testing::_;
  using ::testing::AnyNumber;
  EXPECT_CALL(cuGetErrorName, Call(_, _)).Times(AnyNumber()).WillRepeatedly([](CUresult code, const char** text) {
    *text = kept_text("NAME_" + std::to_string(static_cast<int>(code)));
    return CUDA_SUCCESS;
  });
  EXPECT_CALL(cuGetErrorString, Call(_, _)).Times(AnyNumber()).WillRepeatedly([](CUresult code, const char** text) {
    *text = kept_text("text of " + std::to_string(static_cast<int>(code)));
    return CUDA_SUCCESS;
  });
  before_ = exchange_driver(&table_);
}

driver_double::~driver_double() {
  exchange_driver(before_);
  active = nullptr;
}

}  // namespace cufault::handles::testing

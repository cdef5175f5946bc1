// SPDX-License-Identifier: Apache-2.0
// Errors and reports as texts: the original result, the call, the handle, and what to do about it.
#include "cufault/handles/error.h"
#include "cufault/handles/report.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

class a_failure : public on_a_mocked_driver {
 protected:
  // A driver that is shutting down gives no names any more.
  void names_are_gone() {
    driver_double::remove(driver.table().cuGetErrorName);
    driver_double::remove(driver.table().cuGetErrorString);
  }
  report stream_leaked{
      {CUDA_ERROR_ILLEGAL_ADDRESS, false, "cuStreamDestroy", 0x57}, "leaked", restoration::no, nullptr};
};

TEST_F(a_failure, is_raised_with_result_name_description_and_call) {
  EXPECT_CALL(driver.cuCtxSynchronize, Call()).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  const cuda_error error = error_of([&] { call(driver.table().cuCtxSynchronize); });
  EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(error.name(), "NAME_700");
  EXPECT_EQ(error.description(), "text of 700");
  EXPECT_STREQ(error.call(), "cuCtxSynchronize");
  EXPECT_STREQ(error.what(), "NAME_700: text of 700 (cuCtxSynchronize)");
  EXPECT_EQ(error.explanation(), "");
}

TEST_F(a_failure, shows_the_number_where_the_driver_gives_no_name) {
  names_are_gone();
  EXPECT_STREQ(cuda_error({CUDA_ERROR_DEINITIALIZED, false, "cuInit", 0}).what(), "CUresult 4 (cuInit)");
  EXPECT_THAT(report_text(stream_leaked).text, HasSubstr("failed: CUresult 700; leaked"));
}

TEST_F(a_failure, shows_the_number_where_the_driver_gives_a_null_name) {
  EXPECT_CALL(driver.cuGetErrorName, Call(_, _)).WillRepeatedly(DoAll(SetArgPointee<1>(nullptr), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuGetErrorString, Call(_, _))
      .WillRepeatedly(DoAll(SetArgPointee<1>(nullptr), Return(CUDA_SUCCESS)));
  EXPECT_EQ(error_name(CUDA_ERROR_UNKNOWN), "CUresult 999");
  EXPECT_THAT(report_text(stream_leaked).text, HasSubstr("CUresult 700"));
}

TEST_F(a_failure, keeps_its_name_where_only_the_description_is_missing) {
  EXPECT_CALL(driver.cuGetErrorString, Call(_, _))
      .WillOnce(Return(CUDA_ERROR_INVALID_VALUE))
      .WillOnce(DoAll(SetArgPointee<1>(nullptr), Return(CUDA_SUCCESS)));
  EXPECT_THAT(report_text(stream_leaked).text, HasSubstr("NAME_700; leaked"));
  EXPECT_THAT(report_text(stream_leaked).text, HasSubstr("NAME_700; leaked"));
}

TEST_F(a_failure, has_no_name_where_no_driver_is_loaded) {
  const driver_table* table = exchange_driver(nullptr);
  EXPECT_EQ(error_name(CUDA_ERROR_UNKNOWN), "CUresult 999");
  EXPECT_EQ(error_description(CUDA_ERROR_UNKNOWN), "");
  EXPECT_THAT(report_text(stream_leaked).text, HasSubstr("CUresult 700"));
  EXPECT_THAT(cuda_error({CUDA_ERROR_NOT_FOUND, true, "cuInit", 0}).what(), HasSubstr("(version unknown)"));
  exchange_driver(table);
}

TEST_F(a_failure, to_find_a_function_says_so_with_the_drivers_version) {
  driver_double::remove(driver.table().cuGraphLaunch);
  const cuda_error error = error_of([&] { call(driver.table().cuGraphLaunch, CUgraphExec{}, CUstream{}); });
  EXPECT_EQ(error.code(), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(error.explanation(), "cuGraphLaunch is not in this driver (version 13.0)");
}

TEST_F(a_failure, to_find_a_function_is_told_apart_from_a_driver_that_finds_nothing) {
  EXPECT_CALL(driver.cuCtxSynchronize, Call()).WillOnce(Return(CUDA_ERROR_NOT_FOUND));
  EXPECT_EQ(error_of([&] { call(driver.table().cuCtxSynchronize); }).explanation(), "");
}

TEST_F(a_failure, to_find_a_function_is_reported_from_clean_up) {
  const report missing{{CUDA_ERROR_NOT_FOUND, true, "cuStreamDestroy", 0x57}, "leaked", restoration::no, nullptr};
  EXPECT_STREQ(report_text(missing).text, "cuStreamDestroy(0x57) is not in this driver: NAME_500: text of 500; leaked");
}

TEST_F(a_failure, is_reported_with_call_handle_result_and_consequence) {
  EXPECT_STREQ(report_text(stream_leaked).text, "cuStreamDestroy(0x57) failed: NAME_700: text of 700; leaked");
}

TEST_F(a_failure, is_reported_without_a_handle_where_there_is_none) {
  stream_leaked.what.handle = 0;
  EXPECT_THAT(report_text(stream_leaked).text, ::testing::StartsWith("cuStreamDestroy failed"));
}

TEST_F(a_failure, to_restore_a_context_is_reported_with_the_context_that_is_current_now) {
  report lost{{CUDA_ERROR_UNKNOWN, false, "cuCtxSetCurrent", 0}, "lost", restoration::current_known, target};
  EXPECT_THAT(report_text(lost).text, HasSubstr("cuCtxSetCurrent(0x0) failed"));
  EXPECT_THAT(report_text(lost).text, HasSubstr("; context 0x7a59e7 is current now; call Device.set_current()"));
  lost.current = nullptr;
  EXPECT_THAT(report_text(lost).text, HasSubstr("; no context is current now; call Device.set_current()"));
  lost.restoring = restoration::current_unknown;
  EXPECT_THAT(report_text(lost).text,
              HasSubstr("; which context is current now is unknown; call Device.set_current()"));
}

TEST_F(a_failure, is_cut_off_where_its_text_is_too_long) {
  const std::string long_text(1000, 'x');
  stream_leaked.consequence = long_text.c_str();
  EXPECT_EQ(std::string(report_text(stream_leaked).text).size(), sizeof(report_line::text) - 1);
}

TEST_F(a_failure, is_written_to_stderr_where_no_sink_is_in_force) {
  report_sink* sink = exchange_report_sink(nullptr);
  ::testing::internal::CaptureStderr();
  report_failure(stream_leaked);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "cufault.handles: cuStreamDestroy(0x57) failed: NAME_700: text of 700; leaked\n");
  exchange_report_sink(sink);
}

TEST_F(a_failure, is_not_reported_if_there_is_none_or_if_the_driver_is_shutting_down) {
  stream_leaked.what.code = CUDA_SUCCESS;
  report_failure(stream_leaked);
  stream_leaked.what.code = CUDA_ERROR_DEINITIALIZED;
  report_failure(stream_leaked);
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

}  // namespace
}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Streams and events: created in their context, destroyed once, borrowed ones never.
#include "cufault/handles/scope.h"
#include "cufault/handles/stream.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

const auto raw_stream = made_up<CUstream>(0x57);
const auto raw_event = made_up<CUevent>(0xe7);

class a_stream : public on_a_mocked_driver {
 protected:
  unique<stream> made() {
    target_is_current();
    EXPECT_CALL(driver.cuStreamCreateWithPriority, Call(_, static_cast<unsigned>(CU_STREAM_NON_BLOCKING), 0))
        .WillOnce(DoAll(SetArgPointee<0>(raw_stream), Return(CUDA_SUCCESS)));
    return stream::create(in_target());
  }
  unique<event> made_event() {
    target_is_current();
    EXPECT_CALL(driver.cuEventCreate, Call(_, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING)))
        .WillOnce(DoAll(SetArgPointee<0>(raw_event), Return(CUDA_SUCCESS)));
    return event::create(in_target());
  }
};

TEST_F(a_stream, is_destroyed_once_with_its_last_owner) {
  shared<stream> owned = made();
  EXPECT_TRUE(owned->owned());
  EXPECT_FALSE(owned->is_default());
  EXPECT_EQ(owned->owning_context()->raw(), target);
  EXPECT_EQ(owned->flags(), static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(owned->priority(), 0);
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
}

TEST_F(a_stream, reports_a_failed_destroy_and_tries_no_second_time) {
  unique<stream> owned = made();
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  owned.reset();
  owned.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuStreamDestroy", raw_stream, CUDA_ERROR_ILLEGAL_ADDRESS)));
}

TEST_F(a_stream, is_silent_if_the_driver_is_shutting_down) {
  unique<stream> owned = made();
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream)).WillOnce(Return(CUDA_ERROR_DEINITIALIZED));
  owned.reset();
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_stream, raises_a_failed_destroy_from_an_explicit_close_and_reports_nothing) {
  unique<stream> owned = made();
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  const cuda_error error = error_of([&] { owned.close(); });
  EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_STREQ(error.call(), "cuStreamDestroy");
  EXPECT_FALSE(owned);
  EXPECT_THAT(recorder.reports(), IsEmpty());
  owned.close();
}

TEST_F(a_stream, stays_while_another_owner_has_it_when_one_closes) {
  shared<stream> first = made();
  shared<stream> second = first;
  first.close();
  EXPECT_FALSE(first);
  first.close();
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
  second.close();
}

TEST_F(a_stream, that_cannot_be_created_is_not_destroyed) {
  target_is_current();
  EXPECT_CALL(driver.cuStreamCreateWithPriority, Call(_, _, _))
      .WillOnce(DoAll(SetArgPointee<0>(raw_stream), Return(CUDA_ERROR_OUT_OF_MEMORY)));
  EXPECT_EQ(error_of([&] { static_cast<void>(stream::create(in_target())); }).code(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(a_stream, is_undone_once_if_only_the_restoration_fails) {
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
      .WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)))
      .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuStreamCreateWithPriority, Call(_, _, _))
      .WillOnce(DoAll(SetArgPointee<0>(raw_stream), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
  set_context_restore_fault_for_testing(CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(error_of([&] { static_cast<void>(stream::create(in_target())); }).code(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(a_stream, of_somebody_else_is_never_destroyed) {
  unique<stream> looked_at = stream::borrow(raw_stream);
  EXPECT_FALSE(looked_at->owned());
  EXPECT_FALSE(looked_at->is_default());
}

TEST_F(a_stream, token_stands_for_a_default_stream) {
  EXPECT_TRUE(stream::borrow(nullptr)->is_default());
  EXPECT_TRUE(stream::borrow(CU_STREAM_LEGACY)->is_default());
  EXPECT_TRUE(stream::borrow(CU_STREAM_PER_THREAD)->is_default());
}

TEST_F(a_stream, synchronizes_records_and_waits) {
  unique<stream> owned = made();
  unique<event> what = made_event();
  EXPECT_CALL(driver.cuStreamSynchronize, Call(raw_stream)).WillOnce(Return(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_EQ(error_of([&] { owned->synchronize(); }).code(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CALL(driver.cuEventRecord, Call(raw_event, raw_stream));
  owned->record(*what);
  EXPECT_CALL(driver.cuStreamWaitEvent, Call(raw_stream, raw_event, 0U));
  owned->wait(*what);
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
  EXPECT_CALL(driver.cuEventDestroy, Call(raw_event));
}

TEST_F(a_stream, that_is_not_done_yet_is_no_failure) {
  unique<stream> looked_at = stream::borrow(raw_stream);
  EXPECT_CALL(driver.cuStreamQuery, Call(raw_stream))
      .WillOnce(Return(CUDA_ERROR_NOT_READY))
      .WillOnce(Return(CUDA_SUCCESS))
      .WillOnce(Return(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_FALSE(looked_at->done());
  EXPECT_TRUE(looked_at->done());
  EXPECT_EQ(error_of([&] { static_cast<void>(looked_at->done()); }).code(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(a_stream, keeps_its_context_until_it_is_destroyed) {
  EXPECT_CALL(driver.cuDevicePrimaryCtxRetain, Call(_, 0))
      .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  target_is_current();
  EXPECT_CALL(driver.cuStreamCreateWithPriority, Call(_, _, _))
      .WillOnce(DoAll(SetArgPointee<0>(raw_stream), Return(CUDA_SUCCESS)));
  unique<stream> owned = stream::create(context::retain_primary(0));
  const ::testing::InSequence in_order;
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(0));
}

TEST_F(a_stream, has_events_that_report_synchronize_and_are_destroyed) {
  unique<event> what = made_event();
  EXPECT_EQ(what->flags(), static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(what->owning_context()->raw(), target);
  EXPECT_CALL(driver.cuEventSynchronize, Call(raw_event));
  what->synchronize();
  EXPECT_CALL(driver.cuEventQuery, Call(raw_event)).WillOnce(Return(CUDA_ERROR_NOT_READY));
  EXPECT_FALSE(what->done());
  EXPECT_CALL(driver.cuEventDestroy, Call(raw_event)).WillOnce(Return(CUDA_ERROR_CONTEXT_IS_DESTROYED));
  what.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuEventDestroy", raw_event, CUDA_ERROR_CONTEXT_IS_DESTROYED)));
}

TEST_F(a_stream, has_events_in_whatever_context_is_current_where_none_is_named) {
  EXPECT_CALL(driver.cuEventCreate, Call(_, 0U)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  EXPECT_EQ(error_of([] { static_cast<void>(event::create({}, 0)); }).code(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(a_stream, has_events_that_are_undone_once_if_only_the_restoration_fails) {
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
      .WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)))
      .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuEventCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(raw_event), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuEventDestroy, Call(raw_event));
  set_context_restore_fault_for_testing(CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(error_of([&] { static_cast<void>(event::create(in_target())); }).code(), CUDA_ERROR_UNKNOWN);
}

}  // namespace
}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Contexts and devices: who retains, who releases, and what a failed operation leaves behind.
#include "cufault/handles/context.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

class a_context : public on_a_mocked_driver {
 protected:
  void one_device() {
    EXPECT_CALL(driver.cuInit, Call(0U));
    EXPECT_CALL(driver.cuDeviceGet, Call(_, 0)).WillOnce(DoAll(SetArgPointee<0>(7), Return(CUDA_SUCCESS)));
  }
  void retaining_gives_target() {
    EXPECT_CALL(driver.cuDevicePrimaryCtxRetain, Call(_, 7))
        .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  }
};

TEST_F(a_context, that_is_primary_is_released_with_its_last_owner) {
  retaining_gives_target();
  shared<context> first = context::retain_primary(7);
  EXPECT_EQ(first->raw(), target);
  EXPECT_EQ(first->kind(), context_kind::primary);
  shared<context> second = first;
  first.reset();
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(7));
  second.reset();
}

TEST_F(a_context, that_cannot_be_retained_is_not_released) {
  EXPECT_CALL(driver.cuDevicePrimaryCtxRetain, Call(_, 7)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(error_of([] { static_cast<void>(context::retain_primary(7)); }).code(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(a_context, that_is_primary_reports_a_failed_release_with_its_handle) {
  retaining_gives_target();
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(7)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  context::retain_primary(7).reset();
  EXPECT_THAT(recorder.reports(),
              ElementsAre(Reported("cuDevicePrimaryCtxRelease", target, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_context, that_is_plain_is_created_without_staying_current_and_destroyed) {
  target_is_current();
  const auto created = made_up<CUcontext>(0xc0);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 7))
      .WillOnce(DoAll(SetArgPointee<0>(created), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxPopCurrent, Call(_));
  unique<context> made = context::create(7);
  EXPECT_EQ(made->kind(), context_kind::plain);
  EXPECT_EQ(made->device(), 7);
  EXPECT_CALL(driver.cuCtxDestroy, Call(created)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxDestroy", created, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_context, that_cannot_be_created_is_not_destroyed) {
  target_is_current();
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 7)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(error_of([] { static_cast<void>(context::create(7)); }).code(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(a_context, of_somebody_else_is_never_destroyed) {
  unique<context> looked_at = context::foreign(target, 3);
  EXPECT_EQ(looked_at->raw(), target);
  EXPECT_EQ(looked_at->kind(), context_kind::foreign);
}

TEST_F(a_context, of_a_device_that_is_not_there_raises) {
  EXPECT_CALL(driver.cuInit, Call(0U)).WillOnce(Return(CUDA_ERROR_NO_DEVICE));
  EXPECT_EQ(error_of([] { device none(0); }).code(), CUDA_ERROR_NO_DEVICE);
  EXPECT_CALL(driver.cuInit, Call(0U));
  EXPECT_CALL(driver.cuDeviceGet, Call(_, 9)).WillOnce(Return(CUDA_ERROR_INVALID_DEVICE));
  EXPECT_EQ(error_of([] { device none(9); }).code(), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(a_context, is_retained_once_by_a_device_that_keeps_it) {
  one_device();
  retaining_gives_target();
  device used(0);
  EXPECT_EQ(used.ordinal(), 0);
  EXPECT_EQ(used.raw(), 7);
  used.keep(used.primary());
  EXPECT_EQ(used.primary()->raw(), target);
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(7));
  used.forget();
  used.forget();
}

TEST_F(a_context, goes_with_an_operation_that_does_not_keep_it) {
  one_device();
  retaining_gives_target();
  const device used(0);
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(7));
  static_cast<void>(used.primary());
}

TEST_F(a_context, that_two_operations_retained_at_once_is_kept_once) {
  one_device();
  EXPECT_CALL(driver.cuDevicePrimaryCtxRetain, Call(_, 7))
      .Times(2)
      .WillRepeatedly(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuDevicePrimaryCtxRelease, Call(7)).Times(2);
  device used(0);
  const shared<context> first = used.primary();
  const shared<context> second = used.primary();
  used.keep(first);
  used.keep(second);
  EXPECT_EQ(used.primary().get(), first.get());
}

TEST_F(a_context, counts_the_devices) {
  EXPECT_CALL(driver.cuInit, Call(0U));
  EXPECT_CALL(driver.cuDeviceGetCount, Call(_)).WillOnce(DoAll(SetArgPointee<0>(4), Return(CUDA_SUCCESS)));
  EXPECT_EQ(device::count(), 4);
}

}  // namespace
}  // namespace cufault::handles

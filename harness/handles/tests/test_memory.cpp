// SPDX-License-Identifier: Apache-2.0
// Memory and pools: each allocation is freed once, by the right call, on the right stream, in the right context.
#include <thread>

#include "cufault/handles/memory.h"
#include "cufault/handles/scope.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

const auto raw_stream = made_up<CUstream>(0x57);
const auto raw_pool = made_up<CUmemoryPool>(0x9001);
constexpr CUdeviceptr address = 0xadd7;

class a_buffer : public on_a_mocked_driver {
 protected:
  unique<buffer> async_on(const shared<stream>& on) {
    target_is_current();
    EXPECT_CALL(driver.cuMemAllocAsync, Call(_, 64, on->raw()))
        .WillOnce(DoAll(SetArgPointee<0>(address), Return(CUDA_SUCCESS)));
    unique<buffer> made = buffer::allocate_async(in_target(), on, 64);
    ::testing::Mock::VerifyAndClearExpectations(&driver.cuCtxGetCurrent);
    return made;
  }
};

TEST_F(a_buffer, of_plain_memory_is_freed_once) {
  target_is_current();
  EXPECT_CALL(driver.cuMemAlloc, Call(_, 64)).WillOnce(DoAll(SetArgPointee<0>(address), Return(CUDA_SUCCESS)));
  unique<buffer> made = buffer::allocate(in_target(), 64);
  EXPECT_EQ(made->address(), address);
  EXPECT_EQ(made->size(), 64U);
  EXPECT_EQ(made->freed_by(), free_call::cuMemFree);
  EXPECT_EQ(made->owning_context()->raw(), target);
  EXPECT_CALL(driver.cuMemFree, Call(address)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuMemFree", address, CUDA_ERROR_INVALID_VALUE)));
}

TEST_F(a_buffer, that_cannot_be_allocated_is_not_freed) {
  target_is_current();
  EXPECT_CALL(driver.cuMemAlloc, Call(_, 64)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(error_of([&] { static_cast<void>(buffer::allocate(in_target(), 64)); }).code(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(a_buffer, of_pinned_memory_is_allocated_in_the_current_context_and_freed_as_host_memory) {
  void* const host = made_up<void*>(0x4057);
  EXPECT_CALL(driver.cuMemAllocHost, Call(_, 64)).WillOnce(DoAll(SetArgPointee<0>(host), Return(CUDA_SUCCESS)));
  unique<buffer> made = buffer::allocate_pinned({}, 64);
  EXPECT_EQ(made->freed_by(), free_call::cuMemFreeHost);
  EXPECT_CALL(driver.cuMemFreeHost, Call(host));
}

TEST_F(a_buffer, on_a_stream_is_freed_on_it_without_switching_contexts) {
  unique<buffer> made = async_on(stream::borrow(raw_stream));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuMemFreeAsync", address, CUDA_ERROR_ILLEGAL_ADDRESS)));
}

TEST_F(a_buffer, on_a_default_stream_is_freed_in_the_context_that_the_stream_stood_for) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_LEGACY));
  const ::testing::InSequence in_order;
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers));
}

TEST_F(a_buffer, on_a_default_stream_is_leaked_and_reported_if_its_context_cannot_be_entered) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillRepeatedly(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", target, CUDA_ERROR_INVALID_CONTEXT)));
  EXPECT_THAT(recorder.reports()[0].text, HasSubstr("not freed and is leaked"));
}

TEST_F(a_buffer, raises_from_close_if_its_context_cannot_be_entered) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillRepeatedly(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  EXPECT_EQ(error_of([&] { made.close(); }).code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_buffer, raises_the_failed_free_and_reports_the_failed_restoration_when_closed) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
      .WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)))
      .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, CU_STREAM_LEGACY)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  const cuda_error error = error_of([&] { made.close(); });
  EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_buffer, on_a_per_thread_stream_is_freed_on_it_by_the_same_thread) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_PER_THREAD));
  target_is_current();
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, CU_STREAM_PER_THREAD));
}

TEST_F(a_buffer, on_a_per_thread_stream_is_freed_on_the_legacy_stream_by_another_thread) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_PER_THREAD));
  target_is_current();
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, CU_STREAM_LEGACY));
  std::thread([&] { made.reset(); }).join();
}

TEST_F(a_buffer, is_freed_on_the_stream_it_was_last_told) {
  unique<buffer> made = async_on(stream::borrow(CU_STREAM_LEGACY));
  made->set_deallocation_stream(stream::borrow(raw_stream));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream));
}

TEST_F(a_buffer, from_a_pool_keeps_the_pool_until_it_is_freed) {
  target_is_current();
  CUmemPoolProps properties{};
  EXPECT_CALL(driver.cuMemPoolCreate, Call(_, &properties))
      .WillOnce(DoAll(SetArgPointee<0>(raw_pool), Return(CUDA_SUCCESS)));
  shared<memory_pool> pool = memory_pool::create(properties);
  EXPECT_TRUE(pool->owned());
  EXPECT_CALL(driver.cuMemAllocFromPoolAsync, Call(_, 64, raw_pool, raw_stream))
      .WillOnce(DoAll(SetArgPointee<0>(address), Return(CUDA_SUCCESS)));
  unique<buffer> made = buffer::allocate_async(in_target(), stream::borrow(raw_stream), 64, pool);
  pool.reset();
  const ::testing::InSequence in_order;
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream));
  EXPECT_CALL(driver.cuMemPoolDestroy, Call(raw_pool)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuMemPoolDestroy", raw_pool, CUDA_ERROR_INVALID_VALUE)));
}

TEST_F(a_buffer, pool_that_cannot_be_created_is_not_destroyed) {
  CUmemPoolProps properties{};
  EXPECT_CALL(driver.cuMemPoolCreate, Call(_, _)).WillOnce(Return(CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_EQ(error_of([&] { static_cast<void>(memory_pool::create(properties)); }).code(), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(a_buffer, pool_of_the_device_is_never_destroyed) {
  EXPECT_CALL(driver.cuDeviceGetMemPool, Call(_, 3)).WillOnce(DoAll(SetArgPointee<0>(raw_pool), Return(CUDA_SUCCESS)));
  unique<memory_pool> pool = memory_pool::current_of(3);
  EXPECT_EQ(pool->raw(), raw_pool);
  EXPECT_FALSE(pool->owned());
  EXPECT_CALL(driver.cuMemPoolGetAttribute, Call(raw_pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, _))
      .WillOnce([](CUmemoryPool, CUmemPool_attribute, void* value) {
        *static_cast<cuuint64_t*>(value) = 512;
        return CUDA_SUCCESS;
      });
  EXPECT_EQ(pool->attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 512U);
}

TEST_F(a_buffer, that_failed_to_come_back_to_the_callers_context_is_freed_again_by_its_own_call) {
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target)).WillRepeatedly(Return(CUDA_SUCCESS));
  EXPECT_CALL(driver.cuMemAlloc, Call(_, 64)).WillOnce(DoAll(SetArgPointee<0>(address), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemFree, Call(address));
  EXPECT_CALL(driver.cuMemAllocHost, Call(_, 64))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<void*>(address)), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemFreeHost, Call(made_up<void*>(address)));
  EXPECT_CALL(driver.cuMemAllocAsync, Call(_, 64, raw_stream))
      .WillOnce(DoAll(SetArgPointee<0>(address), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream));
  const auto fails = [&](auto allocate) {
    EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
        .WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)))
        .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)))
        .RetiresOnSaturation();
    set_context_restore_fault_for_testing(CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(error_of(allocate).code(), CUDA_ERROR_INVALID_CONTEXT);
  };
  fails([&] { static_cast<void>(buffer::allocate(in_target(), 64)); });
  fails([&] { static_cast<void>(buffer::allocate_pinned(in_target(), 64)); });
  fails([&] { static_cast<void>(buffer::allocate_async(in_target(), stream::borrow(raw_stream), 64)); });
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_buffer, is_filled_and_copied_in_its_context_on_a_default_stream_only) {
  const shared<stream> other = stream::borrow(raw_stream);
  const shared<stream> standard = stream::borrow(CU_STREAM_LEGACY);
  unique<buffer> made = async_on(other);
  EXPECT_CALL(driver.cuMemsetD8Async, Call(address, 5, 64, raw_stream));
  EXPECT_CALL(driver.cuMemcpyAsync, Call(address, address, 64, raw_stream));
  made->fill(5, *other);
  made->copy_to(*made, *other);
  target_is_current();
  EXPECT_CALL(driver.cuMemsetD8Async, Call(address, 5, 64, CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuMemcpyAsync, Call(address, address, 64, CU_STREAM_LEGACY));
  made->fill(5, *standard);
  made->copy_to(*made, *standard);
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream));
}

TEST_F(a_buffer, memory_without_an_owner_is_freed_at_once_and_raises) {
  EXPECT_CALL(driver.cuMemFree, Call(address)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_CALL(driver.cuMemFreeHost, Call(made_up<void*>(address))).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, raw_stream)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  const shared<stream> on = stream::borrow(raw_stream);
  for (const free_call how : {free_call::cuMemFree, free_call::cuMemFreeHost, free_call::cuMemFreeAsync}) {
    EXPECT_EQ(error_of([&] { free_now(how, address, on, target); }).code(), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(a_buffer, memory_without_an_owner_is_freed_on_the_default_stream_of_the_context_that_is_named) {
  const ::testing::InSequence in_order;
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuMemFreeAsync, Call(address, CU_STREAM_LEGACY));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers));
  free_now(free_call::cuMemFreeAsync, address, stream::borrow(CU_STREAM_LEGACY), target);
}

}  // namespace
}  // namespace cufault::handles

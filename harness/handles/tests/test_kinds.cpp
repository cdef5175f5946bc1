// SPDX-License-Identifier: Apache-2.0
// The other rows of the handle table: each is made, destroyed once, reported with its handle, and undone.
#include <cerrno>
#include <vector>

#include "cufault/handles/capture.h"
#include "cufault/handles/foreign.h"
#include "cufault/handles/kinds.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

using ::testing::InSequence;

class a_kind : public on_a_mocked_driver {
 protected:
  void current_is(CUcontext context) {
    EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
        .WillOnce(DoAll(SetArgPointee<0>(context), Return(CUDA_SUCCESS)))
        .RetiresOnSaturation();
  }
  // The destroy call fails: it is reported with the object's handle and made once.
  template <class Object, class Mock, class Native>
  void is_destroyed_once(unique<Object> made, Mock& destroyer, const char* name, Native raw) {
    EXPECT_EQ(made->raw(), raw);
    EXPECT_CALL(destroyer, Call(raw)).WillOnce(Return(CUDA_ERROR_INVALID_HANDLE));
    made.reset();
    EXPECT_THAT(recorder.reports(), ::testing::Contains(Reported(name, raw, CUDA_ERROR_INVALID_HANDLE)));
  }
};

TEST_F(a_kind, of_every_simple_sort_is_destroyed_once_and_reported) {
  target_is_current();
  const auto array_ = made_up<CUarray>(1);
  EXPECT_CALL(driver.cuArray3DCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(array_), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_array(in_target(), {}), driver.cuArrayDestroy, "cuArrayDestroy", array_);
  const auto mipmap = made_up<CUmipmappedArray>(2);
  EXPECT_CALL(driver.cuMipmappedArrayCreate, Call(_, _, 3U))
      .WillOnce(DoAll(SetArgPointee<0>(mipmap), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_mipmapped_array(in_target(), {}, 3), driver.cuMipmappedArrayDestroy,
                    "cuMipmappedArrayDestroy", mipmap);
  EXPECT_CALL(driver.cuTexObjectCreate, Call(_, _, _, nullptr))
      .WillOnce(DoAll(SetArgPointee<0>(3), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_texture(in_target(), {}, {}, {}), driver.cuTexObjectDestroy, "cuTexObjectDestroy", 3ULL);
  EXPECT_CALL(driver.cuSurfObjectCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(4), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_surface(in_target(), {}, {}), driver.cuSurfObjectDestroy, "cuSurfObjectDestroy", 4ULL);
  const auto graphics = made_up<CUgraphicsResource>(5);
  is_destroyed_once(graphics_resource::adopt(in_target(), graphics), driver.cuGraphicsUnregisterResource,
                    "cuGraphicsUnregisterResource", graphics);
  const auto module = made_up<CUmodule>(6);
  EXPECT_CALL(driver.cuModuleLoadData, Call(_, nullptr))
      .WillOnce(DoAll(SetArgPointee<0>(module), Return(CUDA_SUCCESS)));
  is_destroyed_once(load_module(in_target(), nullptr), driver.cuModuleUnload, "cuModuleUnload", module);
  const auto loaded = made_up<CUlibrary>(7);
  EXPECT_CALL(driver.cuLibraryLoadData, Call(_, nullptr, _, _, 0U, _, _, 0U))
      .WillOnce(DoAll(SetArgPointee<0>(loaded), Return(CUDA_SUCCESS)));
  is_destroyed_once(load_library(in_target(), nullptr), driver.cuLibraryUnload, "cuLibraryUnload", loaded);
  const auto link = made_up<CUlinkState>(8);
  EXPECT_CALL(driver.cuLinkCreate, Call(0U, nullptr, nullptr, _))
      .WillOnce(DoAll(SetArgPointee<3>(link), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_link(in_target(), 0, nullptr, nullptr), driver.cuLinkDestroy, "cuLinkDestroy", link);
  EXPECT_CALL(driver.cuMemCreate, Call(_, 64, _, 0)).WillOnce(DoAll(SetArgPointee<0>(9), Return(CUDA_SUCCESS)));
  is_destroyed_once(create_physical_memory(64, {}), driver.cuMemRelease, "cuMemRelease", 9ULL);
  EXPECT_EQ(recorder.reports().size(), 9U);
}

TEST_F(a_kind, that_cannot_be_made_is_not_destroyed) {
  target_is_current();
  EXPECT_CALL(driver.cuArray3DCreate, Call(_, _))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<CUarray>(1)), Return(CUDA_ERROR_OUT_OF_MEMORY)));
  EXPECT_EQ(error_of([&] { static_cast<void>(create_array(in_target(), {})); }).code(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(a_kind, that_any_context_can_destroy_is_undone_wherever_the_thread_is) {
  const InSequence in_order;
  current_is(callers);
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuArray3DCreate, Call(_, _))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<CUarray>(1)), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  current_is(callers);
  EXPECT_CALL(driver.cuArrayDestroy, Call(made_up<CUarray>(1)));
  EXPECT_EQ(error_of([&] { static_cast<void>(create_array(in_target(), {})); }).code(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(a_kind, that_needs_its_context_is_destroyed_in_it) {
  target_is_current();
  EXPECT_CALL(driver.cuTexObjectCreate, Call(_, _, _, _)).WillOnce(DoAll(SetArgPointee<0>(3), Return(CUDA_SUCCESS)));
  unique<texture> made = create_texture(in_target(), {}, {}, {});
  ::testing::Mock::VerifyAndClearExpectations(&driver.cuCtxGetCurrent);
  const InSequence in_order;
  current_is(callers);
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuTexObjectDestroy, Call(3));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers));
}

TEST_F(a_kind, that_needs_its_context_is_leaked_if_that_cannot_be_entered) {
  unique<texture> made = texture::adopt(in_target(), 3);
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillRepeatedly(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", target, CUDA_ERROR_INVALID_CONTEXT)));
  EXPECT_THAT(recorder.reports()[0].text, HasSubstr("the texture is leaked"));
}

TEST_F(a_kind, that_needs_its_context_is_not_undone_in_a_strangers) {
  const InSequence in_order;
  current_is(callers);
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuTexObjectCreate, Call(_, _, _, _)).WillOnce(DoAll(SetArgPointee<0>(3), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(callers)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  current_is(callers);
  const cuda_error error = error_of([&] { static_cast<void>(create_texture(in_target(), {}, {}, {})); });
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_EQ(recorder.reports().size(), 1U);
}

TEST_F(a_kind, gives_functions_and_kernels_by_name) {
  unique<code_module> module = code_module::adopt({}, nullptr);
  unique<library> loaded = library::adopt({}, nullptr);
  EXPECT_CALL(driver.cuModuleGetFunction, Call(_, nullptr, ::testing::StrEq("f")))
      .WillOnce(Return(CUDA_ERROR_NOT_FOUND));
  EXPECT_EQ(error_of([&] { static_cast<void>(function_of(*module, "f")); }).code(), CUDA_ERROR_NOT_FOUND);
  EXPECT_CALL(driver.cuLibraryGetKernel, Call(_, nullptr, ::testing::StrEq("k")))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<CUkernel>(1)), Return(CUDA_SUCCESS)));
  EXPECT_EQ(kernel_of(*loaded, "k"), made_up<CUkernel>(1));
}

TEST_F(a_kind, of_virtual_memory_is_unmapped_freed_and_released_in_this_order) {
  EXPECT_CALL(driver.cuMemCreate, Call(_, 64, _, 0)).WillOnce(DoAll(SetArgPointee<0>(9), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemAddressReserve, Call(_, 64, 0, 0, 0))
      .WillOnce(DoAll(SetArgPointee<0>(0xadd), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemMap, Call(0xadd, 64, 0, 9, 0));
  EXPECT_CALL(driver.cuMemSetAccess, Call(0xadd, 64, _, 1));
  shared<physical_memory> physical = create_physical_memory(64, {});
  shared<reservation> range = reservation::create(64);
  EXPECT_EQ(range->size(), 64U);
  unique<mapping> made = mapping::create(range, physical, 64, 0);
  EXPECT_EQ(made->address(), 0xaddU);
  range.reset();
  physical.reset();
  const InSequence in_order;
  EXPECT_CALL(driver.cuMemUnmap, Call(0xadd, 64)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuMemRelease, Call(9)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuMemAddressFree, Call(0xadd, 64)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  made.reset();
  EXPECT_EQ(recorder.reports().size(), 3U);
}

TEST_F(a_kind, of_mapping_is_undone_if_access_is_refused) {
  EXPECT_CALL(driver.cuMemAddressReserve, Call(_, 64, 0, 0, 0))
      .WillOnce(DoAll(SetArgPointee<0>(0xadd), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemMap, Call(0xadd, 64, 0, 9, 0));
  EXPECT_CALL(driver.cuMemSetAccess, Call(0xadd, 64, _, 1)).WillOnce(Return(CUDA_ERROR_INVALID_DEVICE));
  EXPECT_CALL(driver.cuMemUnmap, Call(0xadd, 64));
  EXPECT_CALL(driver.cuMemAddressFree, Call(0xadd, 64));
  EXPECT_CALL(driver.cuMemRelease, Call(9));
  shared<physical_memory> physical = physical_memory::adopt({}, 9);
  shared<reservation> range = reservation::create(64);
  EXPECT_EQ(error_of([&] { static_cast<void>(mapping::create(range, physical, 64, 0)); }).code(),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(a_kind, of_mapping_and_reservation_that_cannot_be_made_is_not_taken_back) {
  EXPECT_CALL(driver.cuMemAddressReserve, Call(_, 64, 0, 0, 0)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_THROW(static_cast<void>(reservation::create(64)), cuda_error);
  EXPECT_CALL(driver.cuMemAddressReserve, Call(_, 64, 0, 0, 0))
      .WillOnce(DoAll(SetArgPointee<0>(0xadd), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemAddressFree, Call(0xadd, 64));
  EXPECT_CALL(driver.cuMemMap, Call(0xadd, 64, 0, 0, 0)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  shared<reservation> range = reservation::create(64);
  EXPECT_THROW(static_cast<void>(mapping::create(range, physical_memory::adopt({}, 0), 64, 0)), cuda_error);
}

TEST_F(a_kind, of_graphics_mapping_is_unmapped_before_the_resource_is_unregistered) {
  const auto raw = made_up<CUgraphicsResource>(5);
  shared<graphics_resource> registered = graphics_resource::adopt({}, raw);
  EXPECT_CALL(driver.cuGraphicsMapResources, Call(1U, _, nullptr));
  EXPECT_CALL(driver.cuGraphicsResourceGetMappedPointer, Call(_, _, raw))
      .WillOnce(DoAll(SetArgPointee<0>(0xadd), SetArgPointee<1>(64), Return(CUDA_SUCCESS)));
  unique<graphics_mapping> made = graphics_mapping::create(registered, nullptr);
  EXPECT_EQ(made->address(), 0xaddU);
  EXPECT_EQ(made->size(), 64U);
  registered.reset();
  const InSequence in_order;
  EXPECT_CALL(driver.cuGraphicsUnmapResources, Call(1U, _, nullptr)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuGraphicsUnregisterResource, Call(raw));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuGraphicsUnmapResources", raw, CUDA_ERROR_UNKNOWN)));
}

TEST_F(a_kind, of_graphics_mapping_is_undone_if_its_address_cannot_be_had) {
  const auto raw = made_up<CUgraphicsResource>(5);
  shared<graphics_resource> registered = graphics_resource::adopt({}, raw);
  EXPECT_CALL(driver.cuGraphicsMapResources, Call(1U, _, nullptr))
      .WillOnce(Return(CUDA_ERROR_MAP_FAILED))
      .WillOnce(Return(CUDA_SUCCESS));
  EXPECT_THROW(static_cast<void>(graphics_mapping::create(registered, nullptr)), cuda_error);
  EXPECT_CALL(driver.cuGraphicsResourceGetMappedPointer, Call(_, _, raw))
      .WillOnce(Return(CUDA_ERROR_NOT_MAPPED_AS_POINTER));
  EXPECT_CALL(driver.cuGraphicsUnmapResources, Call(1U, _, nullptr));
  EXPECT_THROW(static_cast<void>(graphics_mapping::create(registered, nullptr)), cuda_error);
  EXPECT_CALL(driver.cuGraphicsUnregisterResource, Call(raw));
}

TEST_F(a_kind, of_green_context_has_streams_and_is_destroyed_after_them) {
  const auto green = made_up<CUgreenCtx>(0x96);
  const auto raw_stream = made_up<CUstream>(0x57);
  EXPECT_CALL(driver.cuDeviceGetDevResource, Call(0, _, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_CALL(driver.cuDevSmResourceSplitByCount, Call(_, _, _, _, 0U, 8U));
  EXPECT_CALL(driver.cuDevResourceGenerateDesc, Call(_, _, 1U));
  EXPECT_CALL(driver.cuGreenCtxCreate, Call(_, _, 0, 1U))
      .WillOnce(DoAll(SetArgPointee<0>(green), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxFromGreenCtx, Call(_, green)).WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  shared<context> made = context::create_green(0, 8);
  EXPECT_EQ(made->raw(), target);
  EXPECT_EQ(made->kind(), context_kind::green);
  EXPECT_CALL(driver.cuGreenCtxStreamCreate, Call(_, green, static_cast<unsigned>(CU_STREAM_NON_BLOCKING), 0))
      .WillOnce(DoAll(SetArgPointee<0>(raw_stream), Return(CUDA_SUCCESS)));
  unique<stream> on = stream::create(made);
  made.reset();
  const InSequence in_order;
  EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream));
  EXPECT_CALL(driver.cuGreenCtxDestroy, Call(green)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  on.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuGreenCtxDestroy", green, CUDA_ERROR_UNKNOWN)));
}

TEST_F(a_kind, of_green_context_is_undone_if_no_context_stands_for_it) {
  EXPECT_CALL(driver.cuDeviceGetDevResource, Call(_, _, _));
  EXPECT_CALL(driver.cuDevSmResourceSplitByCount, Call(_, _, _, _, _, _));
  EXPECT_CALL(driver.cuDevResourceGenerateDesc, Call(_, _, _));
  EXPECT_CALL(driver.cuGreenCtxCreate, Call(_, _, _, _))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<CUgreenCtx>(1)), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxFromGreenCtx, Call(_, _)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  EXPECT_CALL(driver.cuGreenCtxDestroy, Call(made_up<CUgreenCtx>(1)));
  EXPECT_EQ(error_of([] { static_cast<void>(context::create_green(0, 8)); }).code(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(a_kind, of_capture_gives_a_graph_and_is_ended_once) {
  const auto raw_stream = made_up<CUstream>(0x57);
  const auto raw_graph = made_up<CUgraph>(0x96);
  EXPECT_CALL(driver.cuStreamBeginCapture, Call(raw_stream, CU_STREAM_CAPTURE_MODE_RELAXED)).Times(2);
  EXPECT_CALL(driver.cuStreamEndCapture, Call(raw_stream, _))
      .WillOnce(DoAll(SetArgPointee<1>(raw_graph), Return(CUDA_SUCCESS)))
      .WillOnce(Return(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
  unique<capture> first = capture::begin(stream::borrow(raw_stream));
  EXPECT_TRUE(first->going_on());
  unique<graph> made = first->end();
  EXPECT_EQ(made->raw(), raw_graph);
  EXPECT_CALL(driver.cuGraphDestroy, Call(raw_graph));
  unique<capture> second = capture::begin(stream::borrow(raw_stream));
  EXPECT_EQ(error_of([&] { static_cast<void>(second->end()); }).code(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(a_kind, of_capture_that_nobody_ended_is_ended_and_its_graph_destroyed) {
  const auto raw_stream = made_up<CUstream>(0x57);
  const auto raw_graph = made_up<CUgraph>(0x96);
  EXPECT_CALL(driver.cuStreamBeginCapture, Call(raw_stream, _)).Times(3);
  EXPECT_CALL(driver.cuStreamEndCapture, Call(raw_stream, _))
      .WillOnce(DoAll(SetArgPointee<1>(raw_graph), Return(CUDA_SUCCESS)))
      .WillOnce(Return(CUDA_SUCCESS))
      .WillOnce(Return(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));
  EXPECT_CALL(driver.cuGraphDestroy, Call(raw_graph)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  for (int i = 0; i < 3; ++i) {
    capture::begin(stream::borrow(raw_stream)).reset();
  }
  EXPECT_THAT(recorder.reports(),
              ElementsAre(Reported("cuGraphDestroy", raw_graph, CUDA_ERROR_UNKNOWN),
                          Reported("cuStreamEndCapture", raw_stream, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)));
  EXPECT_CALL(driver.cuStreamBeginCapture, Call(raw_stream, _)).WillOnce(Return(CUDA_ERROR_ILLEGAL_STATE));
  EXPECT_THROW(static_cast<void>(capture::begin(stream::borrow(raw_stream))), cuda_error);
}

TEST_F(a_kind, of_event_is_exported_opened_and_measured) {
  target_is_current();
  const auto raw = made_up<CUevent>(0xe7);
  EXPECT_CALL(driver.cuIpcOpenEventHandle, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(raw), Return(CUDA_SUCCESS)));
  unique<event> opened = event::open_ipc(in_target(), {});
  EXPECT_CALL(driver.cuIpcGetEventHandle, Call(_, raw));
  static_cast<void>(opened->export_ipc());
  EXPECT_CALL(driver.cuEventElapsedTime, Call(_, raw, raw))
      .WillOnce(DoAll(SetArgPointee<0>(1.5F), Return(CUDA_SUCCESS)));
  EXPECT_EQ(opened->milliseconds_since(*opened), 1.5F);
  EXPECT_CALL(driver.cuEventDestroy, Call(raw));
}

TEST_F(a_kind, of_memory_that_is_managed_imported_or_the_users_goes_back_where_it_came_from) {
  target_is_current();
  EXPECT_CALL(driver.cuMemAllocManaged, Call(_, 64, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL)))
      .WillOnce(DoAll(SetArgPointee<0>(0xadd), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuMemFree, Call(0xadd));
  buffer::allocate_managed(in_target(), 64).reset();

  const auto pool = made_up<CUmemoryPool>(0x90);
  const auto raw_stream = made_up<CUstream>(0x57);
  int shareable = 3;
  EXPECT_CALL(driver.cuMemPoolImportFromShareableHandle,
              Call(_, &shareable, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
      .WillOnce(DoAll(SetArgPointee<0>(pool), Return(CUDA_SUCCESS)));
  shared<memory_pool> imported = memory_pool::import_from(&shareable, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CUmemPoolPtrExportData exported{};
  EXPECT_CALL(driver.cuMemPoolImportPointer, Call(_, pool, &exported))
      .WillOnce(DoAll(SetArgPointee<0>(0xade), Return(CUDA_SUCCESS)));
  unique<buffer> pointer = buffer::import_pointer(in_target(), stream::borrow(raw_stream), imported, exported, 64);
  imported.reset();
  EXPECT_CALL(driver.cuMemFreeAsync, Call(0xade, raw_stream));
  EXPECT_CALL(driver.cuMemPoolDestroy, Call(pool));
  pointer.reset();

  struct users final : user_memory {
    void deallocate(CUdeviceptr address, std::size_t size, view<stream> on) noexcept override {
      freed = address + size + (on ? 1 : 0);
    }
    CUdeviceptr freed = 0;
  };
  const shared<users> own = unique<users>(new users);
  buffer::adopt(own, {}, 0x100, 0x10).reset();
  EXPECT_EQ(own->freed, 0x110U);
  EXPECT_EQ(buffer::adopt(own, {}, 0x200, 0x10)->give_up(), 0x200U);
  EXPECT_EQ(own->freed, 0x110U);
  EXPECT_THROW(free_now(free_call::user, 0x100, {}, nullptr), std::invalid_argument);
}

TEST_F(a_kind, of_pool_takes_granted_access_back_before_it_goes) {
  const auto pool = made_up<CUmemoryPool>(0x90);
  EXPECT_CALL(driver.cuMemPoolCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(pool), Return(CUDA_SUCCESS)));
  unique<memory_pool> made = memory_pool::create({});
  const InSequence in_order;
  EXPECT_CALL(driver.cuMemPoolSetAccess, Call(pool, _, 2)).WillOnce(Return(CUDA_ERROR_INVALID_DEVICE));
  EXPECT_THROW(made->grant_access({1, 2}), cuda_error);
  EXPECT_CALL(driver.cuMemPoolSetAccess, Call(pool, _, 2));
  made->grant_access({1, 2});
  EXPECT_CALL(driver.cuMemPoolSetAccess, Call(pool, _, 2))
      .WillOnce([](CUmemoryPool, const CUmemAccessDesc* access, std::size_t) {
        EXPECT_EQ(access[1].flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        return CUDA_ERROR_UNKNOWN;
      });
  EXPECT_CALL(driver.cuMemPoolDestroy, Call(pool));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuMemPoolSetAccess", pool, CUDA_ERROR_UNKNOWN)));
}

TEST_F(a_kind, of_descriptor_is_closed_once_and_reported_in_the_systems_words) {
  file_descriptor::adopt(5, [](int) { return 0; }).reset();
  file_descriptor::adopt(7, [](int) {
    errno = EIO;
    return -1;
  }).reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("close", 7, CUDA_ERROR_OPERATING_SYSTEM)));
  EXPECT_THAT(recorder.reports()[0].text, HasSubstr("close(0x7) failed: Input/output error"));
}

TEST_F(a_kind, of_compiler_program_is_destroyed_once_and_reported_in_the_librarys_words) {
  const compiler_library nvrtc{"nvrtcDestroyProgram", [](void**) { return 4; },
                               [](int) { return "NVRTC_ERROR_INVALID_PROGRAM"; }};
  const compiler_library link{"nvJitLinkDestroy", [](void**) { return 1; }, nullptr};
  const compiler_library nvvm{"nvvmDestroyProgram", [](void**) { return 0; }, nullptr};
  unique<compiler_program> program = compiler_program::adopt(nvrtc, made_up<void*>(0x1));
  const cuda_error error = error_of([&] { program.close(); });
  EXPECT_EQ(error.name(), "NVRTC_ERROR_INVALID_PROGRAM");
  compiler_program::adopt(link, made_up<void*>(0x2)).reset();
  compiler_program::adopt(nvvm, made_up<void*>(0x3)).reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("nvJitLinkDestroy", 2, CUDA_ERROR_UNKNOWN)));
}

TEST_F(a_kind, of_child_graph_is_embedded_with_its_owner_kept_and_taken_back_if_its_clone_is_lost) {
  const auto parent = made_up<CUgraph>(0x10);
  const auto child = made_up<CUgraph>(0x20);
  const auto clone = made_up<CUgraph>(0x21);
  const auto node = made_up<CUgraphNode>(0x30);
  const auto attachment = made_up<CUuserObject>(0x40);
  std::pair<void*, CUhostFn> held;
  EXPECT_CALL(driver.cuUserObjectCreate, Call(_, _, _, 1U, _))
      .Times(2)
      .WillRepeatedly([&](CUuserObject* object, void* data, CUhostFn gone, unsigned, unsigned) {
        *object = attachment;
        held = {data, gone};
        return CUDA_SUCCESS;
      });
  EXPECT_CALL(driver.cuGraphRetainUserObject, Call(parent, attachment, 1U, _)).Times(2);
  EXPECT_CALL(driver.cuGraphAddChildGraphNode, Call(_, parent, _, 0, child))
      .Times(2)
      .WillRepeatedly(DoAll(SetArgPointee<0>(node), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuGraphChildGraphNodeGetGraph, Call(node, _))
      .WillOnce(DoAll(SetArgPointee<1>(clone), Return(CUDA_SUCCESS)))
      .WillOnce(Return(CUDA_ERROR_UNKNOWN));
  const auto release = [&] {
    held.second(held.first);
    return CUDA_SUCCESS;
  };
  unique<graph> made = graph::adopt(parent);
  shared<graph> embedded = graph::adopt(child);
  EXPECT_EQ(made->add_child(embedded).clone, clone);
  const auto first_owner = held;
  EXPECT_CALL(driver.cuGraphDestroyNode, Call(node)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(parent, attachment, 1U))
      .WillOnce(::testing::InvokeWithoutArgs(release));
  const cuda_error error = error_of([&] { static_cast<void>(made->add_child(embedded)); });
  EXPECT_EQ(error.code(), CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  embedded.reset();
  const InSequence in_order;
  EXPECT_CALL(driver.cuGraphDestroy, Call(parent)).WillOnce([&](CUgraph) {
    first_owner.second(first_owner.first);
    return CUDA_SUCCESS;
  });
  EXPECT_CALL(driver.cuGraphDestroy, Call(child));
  made.reset();
}

}  // namespace
}  // namespace cufault::handles

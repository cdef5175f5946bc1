// SPDX-License-Identifier: Apache-2.0
// The scoped-context helpers: order of calls, what is undone, and who wins when two things fail.
#include <new>

#include "cufault/handles/scope.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

using ::testing::InSequence;

class a_scoped_context : public on_a_mocked_driver {
 protected:
  void current_is(CUcontext context) {
    EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillOnce(DoAll(SetArgPointee<0>(context), Return(CUDA_SUCCESS)));
  }
  void current_is_unknown(CUresult code) { EXPECT_CALL(driver.cuCtxGetCurrent, Call(_)).WillOnce(Return(code)); }
  void switching_to(CUcontext context, CUresult answer = CUDA_SUCCESS) {
    EXPECT_CALL(driver.cuCtxSetCurrent, Call(context)).WillOnce(Return(answer));
  }
  void work() { call(driver.table().cuCtxSynchronize); }
  void work_answers(CUresult code) { EXPECT_CALL(driver.cuCtxSynchronize, Call()).WillOnce(Return(code)); }

  InSequence in_order;  // after the double, whose own expectations stand outside the order
};

TEST_F(a_scoped_context, switches_works_and_restores_in_this_order) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers);
  run_in_context(target, [&] { work(); });
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_scoped_context, restores_no_context_where_none_was_current) {
  current_is(nullptr);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(nullptr);
  run_in_context(target, [&] { work(); });
}

TEST_F(a_scoped_context, makes_no_switch_where_the_target_is_current_already) {
  current_is(target);
  work_answers(CUDA_SUCCESS);
  run_in_context(target, [&] { work(); });
}

TEST_F(a_scoped_context, asks_nothing_where_there_is_no_target) {
  work_answers(CUDA_SUCCESS);
  run_in_context(nullptr, [&] { work(); });
}

TEST_F(a_scoped_context, raises_that_the_current_context_cannot_be_found_out) {
  current_is_unknown(CUDA_ERROR_INVALID_CONTEXT);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_STREQ(error.call(), "cuCtxGetCurrent");
}

TEST_F(a_scoped_context, raises_a_failed_entering_without_doing_the_work) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_INVALID_CONTEXT);
  current_is(callers);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_STREQ(error.call(), "cuCtxSetCurrent");
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_scoped_context, puts_the_callers_context_back_if_a_driver_switches_and_answers_an_error) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_UNKNOWN);
  current_is(target);
  switching_to(callers);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error.notes(), IsEmpty());
}

TEST_F(a_scoped_context, reports_and_notes_if_putting_back_after_a_failed_entering_fails_too) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_UNKNOWN);
  current_is(target);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
}

TEST_F(a_scoped_context, leaves_the_context_alone_after_a_failed_entering_if_it_cannot_be_found_out) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_UNKNOWN);
  current_is_unknown(CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(error_of([&] { run_in_context(target, [&] { work(); }); }).code(), CUDA_ERROR_UNKNOWN);
}

TEST_F(a_scoped_context, raises_the_operations_error_after_restoring) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_ERROR_OUT_OF_MEMORY);
  switching_to(callers);
  EXPECT_EQ(error_of([&] { run_in_context(target, [&] { work(); }); }).code(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(a_scoped_context, raises_the_operations_error_and_reports_the_restorations_when_both_fail) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_ERROR_OUT_OF_MEMORY);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_scoped_context, restores_after_an_error_that_is_not_the_drivers) {
  current_is(callers);
  switching_to(target);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  EXPECT_THROW(run_in_context(target, [] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_scoped_context, raises_a_failed_restoration_and_says_which_context_is_current) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  const cuda_error error = error_of([&] { run_in_context(target, [&] { work(); }); });
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(error.what(), HasSubstr("context 0x7a59e7 is current now; call Device.set_current()"));
  EXPECT_THAT(error.what(), HasSubstr("succeeded and stays done"));
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_scoped_context, says_that_the_current_context_is_unknown_where_the_driver_does_not_tell) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is_unknown(CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of([&] { run_in_context(target, [&] { work(); }); }).what(), HasSubstr("now is unknown"));
}

TEST_F(a_scoped_context, says_that_no_context_is_current_where_that_is_so) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(nullptr);
  EXPECT_THAT(error_of([&] { run_in_context(target, [&] { work(); }); }).what(),
              HasSubstr("no context is current now"));
}

TEST_F(a_scoped_context, undoes_a_creation_once_if_only_the_restoration_fails) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  int undone = 0;
  const cuda_error error = error_of([&] {
    run_or_undo_in_context(
        target, [&] { work(); }, [&](cleanup&) { ++undone; });
  });
  EXPECT_EQ(undone, 1);
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(error.what(), HasSubstr("destroyed again; context 0x7a59e7 is current now; call Device.set_current()"));
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_scoped_context, does_not_undo_what_failed_or_what_went_well) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers);
  run_or_undo_in_context(
      target, [&] { work(); }, [&](cleanup&) { ADD_FAILURE(); });
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_ERROR_OUT_OF_MEMORY);
  switching_to(callers);
  EXPECT_THROW(run_or_undo_in_context(
                   target, [&] { work(); }, [&](cleanup&) { ADD_FAILURE(); }),
               cuda_error);
}

TEST_F(a_scoped_context, raises_a_failed_entering_of_a_creation) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_INVALID_CONTEXT);
  current_is(callers);
  EXPECT_THROW(run_or_undo_in_context(
                   target, [&] { work(); }, [&](cleanup&) { ADD_FAILURE(); }),
               cuda_error);
}

TEST_F(a_scoped_context, reports_and_notes_a_failed_undo_beside_the_restorations_error) {
  const auto stream = reinterpret_cast<CUstream>(0x57);
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  EXPECT_CALL(driver.cuStreamDestroy, Call(stream)).WillOnce(Return(CUDA_ERROR_ILLEGAL_ADDRESS));
  const cuda_error error = error_of([&] {
    run_or_undo_in_context(
        target, [&] { work(); },
        [&](cleanup& failures) {
          failures.call("the stream is leaked", driver.table().cuStreamDestroy, as_number(stream), stream);
        });
  });
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(error.what(), HasSubstr("could not be destroyed again"));
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuStreamDestroy", stream, CUDA_ERROR_ILLEGAL_ADDRESS)));
}

TEST_F(a_scoped_context, undoes_in_the_target_context_where_that_is_verified_to_be_current) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  int undone = 0;
  EXPECT_THROW(run_or_undo_in_context(
                   target, [&] { work(); }, [&](cleanup&) { ++undone; }, undo_needs::target_context, "leaked"),
               cuda_error);
  EXPECT_EQ(undone, 1);
}

TEST_F(a_scoped_context, leaks_and_reports_where_the_undo_needs_a_context_that_is_not_current) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(callers);
  const cuda_error error = error_of([&] {
    run_or_undo_in_context(
        target, [&] { work(); }, [&](cleanup&) { ADD_FAILURE(); }, undo_needs::target_context, "the texture is leaked");
  });
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
}

TEST_F(a_scoped_context, leaks_where_the_undo_needs_a_context_and_which_is_current_is_unknown) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is_unknown(CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(run_or_undo_in_context(
                   target, [&] { work(); }, [&](cleanup&) { ADD_FAILURE(); }, undo_needs::target_context, "leaked"),
               cuda_error);
}

TEST_F(a_scoped_context, cleans_up_and_restores) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers);
  cleanup failures;
  EXPECT_TRUE(cleanup_in_context(target, failures, "skipped", [&] { work(); }));
  EXPECT_TRUE(failures.clean());
}

TEST_F(a_scoped_context, skips_and_keeps_account_of_a_clean_up_whose_context_cannot_be_entered) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_INVALID_CONTEXT);
  current_is(callers);
  cleanup failures;
  EXPECT_FALSE(cleanup_in_context(target, failures, "skipped", [&] { ADD_FAILURE(); }));
  failures.report();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSetCurrent", target, CUDA_ERROR_INVALID_CONTEXT)));
  EXPECT_THAT(recorder.reports()[0].text, HasSubstr("; skipped"));
}

TEST_F(a_scoped_context, keeps_the_clean_ups_context_if_restoring_fails_and_never_tries_again) {
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_ERROR_ILLEGAL_ADDRESS);
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  cleanup failures;
  cleanup_in_context(target, failures, "skipped", [&] { failures.call("leaked", driver.table().cuCtxSynchronize, 1); });
  failures.report();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxSynchronize", 1, CUDA_ERROR_ILLEGAL_ADDRESS),
                                              Reported("cuCtxSetCurrent", callers, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_scoped_context, fails_the_next_restoration_on_order_and_only_that_one) {
  set_context_restore_fault_for_testing(CUDA_ERROR_DEINITIALIZED);
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  current_is(target);
  EXPECT_EQ(error_of([&] { run_in_context(target, [&] { work(); }); }).code(), CUDA_ERROR_DEINITIALIZED);
  current_is(callers);
  switching_to(target);
  work_answers(CUDA_SUCCESS);
  switching_to(callers);
  run_in_context(target, [&] { work(); });
}

TEST_F(a_scoped_context, delivers_reports_only_after_the_callers_context_is_back) {
  current_is(callers);
  switching_to(target);
  switching_to(callers);
  EXPECT_CALL(driver.cuStreamSynchronize, Call(nullptr));
  recorder.on_delivery = [&] { call(driver.table().cuStreamSynchronize, CUstream{}); };
  run_in_context(target, [] {
    report_failure({{CUDA_ERROR_UNKNOWN, false, "cuEventDestroy", 1}, "leaked", restoration::no, nullptr});
  });
  EXPECT_EQ(recorder.reports().size(), 1U);
}

TEST_F(a_scoped_context, gives_the_device_of_a_context) {
  current_is(callers);
  switching_to(target);
  EXPECT_CALL(driver.cuCtxGetDevice, Call(_)).WillOnce(DoAll(SetArgPointee<0>(3), Return(CUDA_SUCCESS)));
  switching_to(callers);
  EXPECT_EQ(context_get_device(target), 3);
}

TEST_F(a_scoped_context, publishes_a_nodes_owners_before_a_failing_restoration_is_raised) {
  const auto node = reinterpret_cast<CUgraphNode>(0x90de);
  CUgraphNodeParams params{};
  current_is(callers);
  switching_to(target);
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, &params));
  EXPECT_CALL(driver.cuStreamSynchronize, Call(nullptr));  // stands for the publishing
  switching_to(callers, CUDA_ERROR_INVALID_CONTEXT);
  current_is(target);
  EXPECT_THROW(
      graph_node_set_params(node, params, target, [&] { call(driver.table().cuStreamSynchronize, CUstream{}); }),
      cuda_error);
}

TEST_F(a_scoped_context, publishes_nothing_if_the_driver_refuses_the_parameters) {
  const auto node = reinterpret_cast<CUgraphNode>(0x90de);
  CUgraphNodeParams params{};
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, &params)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_THROW(graph_node_set_params(node, params, nullptr, [] { ADD_FAILURE(); }), cuda_error);
}

TEST_F(a_scoped_context, is_set_for_good_by_one_call) {
  current_is(callers);
  switching_to(target);
  EXPECT_EQ(set_current(target), callers);
  current_is(nullptr);
  switching_to(target);
  EXPECT_EQ(set_current(target), nullptr);
}

TEST_F(a_scoped_context, stays_as_it_is_if_setting_it_for_good_fails) {
  current_is(callers);
  switching_to(target, CUDA_ERROR_INVALID_CONTEXT);
  current_is(callers);
  const cuda_error error = error_of([&] { set_current(target); });
  EXPECT_THAT(error.what(), HasSubstr("0x7a59e7 could not be made current; context 0xca11e5 is current now"));
}

TEST_F(a_scoped_context, is_created_and_popped) {
  const auto created = reinterpret_cast<CUcontext>(0xc0);
  current_is(callers);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0))
      .WillOnce(DoAll(SetArgPointee<0>(created), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxPopCurrent, Call(_));
  EXPECT_EQ(create_context_unpushed(0, 0), created);
}

TEST_F(a_scoped_context, is_not_popped_if_creating_it_fails) {
  current_is(callers);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  current_is(callers);
  EXPECT_THROW(static_cast<void>(create_context_unpushed(0, 0)), cuda_error);
}

TEST_F(a_scoped_context, is_not_popped_if_creating_it_fails_and_what_is_current_is_unknown) {
  current_is(callers);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  current_is_unknown(CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(static_cast<void>(create_context_unpushed(0, 0)), cuda_error);
}

TEST_F(a_scoped_context, is_popped_if_creating_it_pushes_and_answers_an_error) {
  current_is(callers);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  current_is(target);
  EXPECT_CALL(driver.cuCtxPopCurrent, Call(_));
  EXPECT_THROW(static_cast<void>(create_context_unpushed(0, 0)), cuda_error);
  EXPECT_THAT(recorder.reports(), IsEmpty());
}

TEST_F(a_scoped_context, reports_if_the_pop_after_a_failed_creation_fails_too) {
  current_is(callers);
  EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  current_is(target);
  EXPECT_CALL(driver.cuCtxPopCurrent, Call(_)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
  current_is(target);
  const cuda_error error = error_of([&] { static_cast<void>(create_context_unpushed(0, 0)); });
  EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxPopCurrent", target, CUDA_ERROR_INVALID_CONTEXT)));
}

TEST_F(a_scoped_context, is_destroyed_again_if_it_cannot_be_popped) {
  const auto created = reinterpret_cast<CUcontext>(0xc0);
  for (const CUresult undo : {CUDA_SUCCESS, CUDA_ERROR_UNKNOWN}) {
    current_is(callers);
    EXPECT_CALL(driver.cuCtxCreate, Call(_, nullptr, 0U, 0))
        .WillOnce(DoAll(SetArgPointee<0>(created), Return(CUDA_SUCCESS)));
    EXPECT_CALL(driver.cuCtxPopCurrent, Call(_)).WillOnce(Return(CUDA_ERROR_INVALID_CONTEXT));
    EXPECT_CALL(driver.cuCtxDestroy, Call(created)).WillOnce(Return(undo));
    current_is(callers);
    const cuda_error error = error_of([&] { static_cast<void>(create_context_unpushed(0, 0)); });
    EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_THAT(error.what(), HasSubstr("context 0xca11e5 is current now"));
    EXPECT_EQ(error.notes().size(), undo == CUDA_SUCCESS ? 0U : 1U);
  }
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuCtxDestroy", created, CUDA_ERROR_UNKNOWN)));
}

}  // namespace
}  // namespace cufault::handles

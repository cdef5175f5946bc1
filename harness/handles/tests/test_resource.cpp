// SPDX-License-Identifier: Apache-2.0
// Ownership, clean-up and deferral: who destroys, when nothing is destroyed, and how several failures are told.
#include <thread>
#include <vector>

#include "cufault/handles/deferred.h"
#include "cufault/handles/resource.h"
#include "cufault/handles/scope.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

const auto raw_stream = made_up<CUstream>(0x57);

// A resource whose destroy makes as many failing calls as it is told.
class failing final : public resource {
 public:
  explicit failing(unsigned failures) : failures_(failures) {}

 private:
  ~failing() override = default;
  void destroy(cleanup& failures) noexcept override {
    for (unsigned i = 0; i < failures_; ++i) {
      failures.call("leaked", loaded_driver()->cuStreamDestroy, i + 1, raw_stream);
    }
  }
  unsigned failures_;
};

class noted final : public deferred {
 public:
  noted(std::vector<int>& done, int number) : done_(done), number_(number) {}
  void run() noexcept override { done_.push_back(number_); }

 private:
  std::vector<int>& done_;
  int number_;
};

class an_owner : public on_a_mocked_driver {
 protected:
  void destroying_fails(int times) {
    EXPECT_CALL(driver.cuStreamDestroy, Call(raw_stream)).Times(times).WillRepeatedly(Return(CUDA_ERROR_UNKNOWN));
  }
};

TEST_F(an_owner, reports_every_failure_of_an_implicit_clean_up) {
  destroying_fails(2);
  unique<failing>(new failing(2)).reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuStreamDestroy", 1, CUDA_ERROR_UNKNOWN),
                                              Reported("cuStreamDestroy", 2, CUDA_ERROR_UNKNOWN)));
}

TEST_F(an_owner, raises_the_first_failure_of_an_explicit_close_and_reports_and_notes_the_rest) {
  destroying_fails(2);
  unique<failing> owned(new failing(2));
  const cuda_error error = error_of([&] { owned.close(); });
  EXPECT_THAT(error.explanation(), HasSubstr("leaked"));
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuStreamDestroy", 2, CUDA_ERROR_UNKNOWN)));
}

TEST_F(an_owner, tells_that_there_were_more_failures_than_places) {
  destroying_fails(10);
  unique<failing>(new failing(10)).reset();
  ASSERT_EQ(recorder.reports().size(), 9U);
  EXPECT_THAT(recorder.reports().back().text, HasSubstr("more failures followed"));
}

TEST_F(an_owner, tells_so_in_a_report_scope_too) {
  destroying_fails(9);
  {
    const report_scope held;
    for (int i = 0; i < 9; ++i) {
      unique<failing>(new failing(1)).reset();
    }
    EXPECT_THAT(recorder.reports(), IsEmpty());
  }
  ASSERT_EQ(recorder.reports().size(), 9U);
  EXPECT_THAT(recorder.reports().back().text, HasSubstr("more failures followed"));
}

TEST_F(an_owner, holds_reports_back_until_the_outermost_scope_ends) {
  destroying_fails(1);
  {
    const report_scope outer;
    {
      const report_scope inner;
      unique<failing>(new failing(1)).reset();
    }
    EXPECT_THAT(recorder.reports(), IsEmpty());
  }
  EXPECT_EQ(recorder.reports().size(), 1U);
}

TEST_F(an_owner, may_be_moved_assigned_and_shared_without_a_driver_call) {
  unique<failing> first(new failing(0));
  failing* object = first.get();
  EXPECT_TRUE(object->sole_owner());
  unique<failing> second;
  second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(&*second, object);
  const view<failing> looked_at = second;
  EXPECT_EQ(looked_at.get(), object);
  EXPECT_TRUE(looked_at);
  EXPECT_FALSE(view<failing>());
  EXPECT_EQ(&*looked_at, object);
  shared<failing> third = std::move(second);
  shared<failing> fourth(looked_at);
  shared<resource> fifth = fourth;
  fourth = third;
  EXPECT_EQ(&*fourth, object);
  EXPECT_FALSE(object->sole_owner());
  shared<failing> nobody;
  shared<failing> nobody_too = nobody;
  EXPECT_FALSE(nobody_too);
  nobody.close();
}

TEST_F(an_owner, destroys_nothing_where_no_driver_was_ever_loaded) {
  const driver_table* table = exchange_driver(nullptr);
  unique<failing>(new failing(1)).reset();
  exchange_driver(table);
}

TEST_F(an_owner, is_drained_of_deferred_work_oldest_first_at_the_next_safe_point) {
  std::vector<int> done;
  noted first(done, 1);
  noted second(done, 2);
  std::thread([&] {
    defer(first);
    defer(second);
  }).join();
  EXPECT_THAT(done, IsEmpty());
  unique<failing>(new failing(0)).reset();
  EXPECT_THAT(done, ElementsAre(1, 2));
  drain_deferred();
  EXPECT_THAT(done, ElementsAre(1, 2));
}

TEST_F(an_owner, has_a_hook_called_for_each_deferred_work) {
  static int called;
  called = 0;
  exchange_deferred_hook([]() noexcept { ++called; });
  std::vector<int> done;
  noted work(done, 1);
  defer(work);
  EXPECT_EQ(called, 1);
  exchange_deferred_hook(nullptr);
  drain_deferred();
}

TEST_F(an_owner, adds_nothing_to_an_error_if_the_driver_is_shutting_down) {
  cleanup failures;
  failures.note({{CUDA_ERROR_DEINITIALIZED, false, "cuStreamDestroy", 1}, "leaked", restoration::no, nullptr});
  cuda_error error({CUDA_ERROR_UNKNOWN, false, "cuInit", 0});
  failures.attach_to(error);
  EXPECT_THAT(error.notes(), IsEmpty());
  EXPECT_THAT(recorder.reports(), IsEmpty());
  EXPECT_EQ(error_of([&] { failures.raise(); }).code(), CUDA_ERROR_DEINITIALIZED);
}

TEST_F(an_owner, says_in_the_raised_error_which_context_a_failed_restoration_left_current) {
  const failure failed{CUDA_ERROR_UNKNOWN, false, "cuCtxSetCurrent", 1};
  const auto explained = [&](restoration how, CUcontext current) {
    cleanup failures;
    failures.note({failed, "lost", how, current});
    return error_of([&] { failures.raise(); }).explanation();
  };
  EXPECT_THAT(explained(restoration::current_known, target), HasSubstr("context 0x7a59e7 is current now; call Device"));
  EXPECT_THAT(explained(restoration::current_known, nullptr), HasSubstr("no context is current now; call Device"));
  EXPECT_THAT(explained(restoration::current_unknown, nullptr), HasSubstr("is unknown; call Device"));
}

}  // namespace
}  // namespace cufault::handles

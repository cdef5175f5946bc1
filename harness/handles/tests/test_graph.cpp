// SPDX-License-Identifier: Apache-2.0
// Graphs: what a node uses lives as long as the driver may use it, however adding and updating end.
#include <map>
#include <new>
#include <stdexcept>

#include "cufault/handles/deferred.h"
#include "cufault/handles/graph.h"
#include "cufault/handles/scope.h"
#include "fixtures.h"

namespace cufault::handles {
namespace {

const auto raw_graph = made_up<CUgraph>(0x96a9);
const auto node = made_up<CUgraphNode>(0x90de);
const auto raw_event = made_up<CUevent>(0xe7);

// Something that a node keeps alive: counts how many are.
class kept final : public resource {
 public:
  explicit kept(int& alive) : alive_(alive) { ++alive_; }

 private:
  ~kept() override = default;
  void destroy(cleanup&) noexcept override { --alive_; }
  int& alive_;
};

// The mocked driver's user objects behave as the real ones: the destructor runs when the last holder goes.
class a_graph : public on_a_mocked_driver {
 protected:
  void SetUp() override {
    target_is_current();
    EXPECT_CALL(driver.cuGraphCreate, Call(_, 0U)).WillOnce(DoAll(SetArgPointee<0>(raw_graph), Return(CUDA_SUCCESS)));
    made = graph::create();
    ON_CALL(driver.cuUserObjectCreate, Call)
        .WillByDefault([this](CUuserObject* object, void* data, CUhostFn destroy, unsigned, unsigned) {
          *object = made_up<CUuserObject>(++last_object);
          holders[*object] = {data, destroy};
          return CUDA_SUCCESS;
        });
    ON_CALL(driver.cuUserObjectRelease, Call).WillByDefault([this](CUuserObject object, unsigned) {
      return gone(object);
    });
    ON_CALL(driver.cuGraphReleaseUserObject, Call).WillByDefault([this](CUgraph, CUuserObject object, unsigned) {
      return gone(object);
    });
    ON_CALL(driver.cuGraphDestroy, Call).WillByDefault([this](CUgraph) {
      while (!holders.empty()) {
        gone(holders.begin()->first);
      }
      return CUDA_SUCCESS;
    });
  }
  void TearDown() override {
    if (made) {
      EXPECT_CALL(driver.cuGraphDestroy, Call(raw_graph));
      made.reset();
    }
    EXPECT_EQ(alive, 0);
  }

  CUresult gone(CUuserObject object) {
    const auto [data, destroy] = holders.at(object);
    holders.erase(object);
    destroy(data);
    return CUDA_SUCCESS;
  }
  owners one() {
    owners keep;
    keep.emplace_back(shared<resource>(unique<kept>(new kept(alive))));
    return keep;
  }
  void attaching(int times = 1) {
    EXPECT_CALL(driver.cuUserObjectCreate, Call(_, _, _, 1U, _)).Times(times);
    EXPECT_CALL(driver.cuGraphRetainUserObject, Call(raw_graph, _, 1U, CU_GRAPH_USER_OBJECT_MOVE)).Times(times);
  }
  void a_memset_node() {
    attaching();
    EXPECT_CALL(driver.cuGraphAddMemsetNode, Call(_, raw_graph, _, 0, _, target))
        .WillOnce(DoAll(SetArgPointee<0>(node), Return(CUDA_SUCCESS)));
    EXPECT_EQ(made->add_memset({0xd0, 1, 1, 64, 1, 0}, in_target(), one()), node);
    EXPECT_EQ(alive, 1);
    ::testing::Mock::VerifyAndClearExpectations(&driver.cuUserObjectCreate);
    ::testing::Mock::VerifyAndClearExpectations(&driver.cuGraphRetainUserObject);
  }

  // Where the node writes to, as the driver says when asked.
  void writes_to(CUdeviceptr dst) {
    CUDA_MEMSET_NODE_PARAMS now{};
    now.dst = dst;
    EXPECT_CALL(driver.cuGraphMemsetNodeGetParams, Call(node, _))
        .WillOnce(DoAll(SetArgPointee<1>(now), Return(CUDA_SUCCESS)));
  }

  int alive = 0;
  unique<graph> made;
  std::uintptr_t last_object = 0x0b0;
  std::map<CUuserObject, std::pair<void*, CUhostFn>> holders;
};

TEST_F(a_graph, keeps_what_a_node_uses_until_the_graph_is_destroyed) { a_memset_node(); }

TEST_F(a_graph, has_no_attachment_for_a_node_that_uses_nothing) {
  EXPECT_CALL(driver.cuGraphAddEmptyNode, Call(_, raw_graph, _, 0))
      .WillOnce(DoAll(SetArgPointee<0>(node), Return(CUDA_SUCCESS)));
  EXPECT_EQ(made->add_empty(), node);
  EXPECT_CALL(driver.cuGraphDestroyNode, Call(node));
  made->destroy_node(node);
}

TEST_F(a_graph, that_cannot_make_a_user_object_adds_no_node_and_keeps_nothing) {
  EXPECT_CALL(driver.cuUserObjectCreate, Call(_, _, _, _, _)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(error_of([&] { static_cast<void>(made->add_memset({}, in_target(), one())); }).code(),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(alive, 0);
}

TEST_F(a_graph, that_cannot_retain_a_user_object_releases_it) {
  EXPECT_CALL(driver.cuUserObjectCreate, Call(_, _, _, _, _));
  EXPECT_CALL(driver.cuGraphRetainUserObject, Call(_, _, _, _)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_CALL(driver.cuUserObjectRelease, Call(_, 1U));
  EXPECT_EQ(error_of([&] { static_cast<void>(made->add_memset({}, in_target(), one())); }).code(),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(alive, 0);
}

TEST_F(a_graph, that_cannot_release_it_either_reports_and_notes_that_and_leaks) {
  EXPECT_CALL(driver.cuUserObjectCreate, Call(_, _, _, _, _));
  EXPECT_CALL(driver.cuGraphRetainUserObject, Call(_, _, _, _)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_CALL(driver.cuUserObjectRelease, Call(_, 1U)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  const cuda_error error = error_of([&] { static_cast<void>(made->add_memset({}, in_target(), one())); });
  EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuUserObjectRelease", last_object, CUDA_ERROR_UNKNOWN)));
  EXPECT_EQ(alive, 1);
}

TEST_F(a_graph, that_cannot_add_a_node_takes_the_attachment_back) {
  attaching();
  EXPECT_CALL(driver.cuGraphAddMemsetNode, Call(_, _, _, _, _, _)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, _, 1U));
  EXPECT_EQ(error_of([&] { static_cast<void>(made->add_memset({}, in_target(), one())); }).code(),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(alive, 0);
}

TEST_F(a_graph, reports_and_notes_an_attachment_that_cannot_be_taken_back) {
  attaching();
  EXPECT_CALL(driver.cuGraphAddMemsetNode, Call(_, _, _, _, _, _)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, _, 1U)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  const cuda_error error = error_of([&] { static_cast<void>(made->add_memset({}, in_target(), one())); });
  EXPECT_THAT(error.notes(), ElementsAre(HasSubstr("was reported")));
  EXPECT_EQ(recorder.reports().size(), 1U);
}

TEST_F(a_graph, updates_a_node_and_releases_the_old_owner_once) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).WillOnce([](CUgraphNode, CUgraphNodeParams* params) {
    EXPECT_EQ(params->type, CU_GRAPH_NODE_TYPE_MEMSET);
    EXPECT_EQ(params->memset.dst, 0xd1U);
    EXPECT_EQ(params->memset.ctx, target);
    return CUDA_SUCCESS;
  });
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b1), 1U));
  made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one());
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(made->memset_of(node).dst, 0xd1U);
}

TEST_F(a_graph, keeps_the_old_owner_and_takes_the_new_one_back_if_an_update_is_refused) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  writes_to(0xd0);
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b2), 1U));
  EXPECT_THROW(made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one()), cuda_error);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(made->memset_of(node).dst, 0xd0U);
}

TEST_F(a_graph, keeps_the_new_owner_if_a_driver_takes_the_parameters_and_answers_an_error) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  writes_to(0xd1);
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b1), 1U));
  EXPECT_THROW(made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one()), cuda_error);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(made->memset_of(node).dst, 0xd1U);
}

TEST_F(a_graph, keeps_both_owners_if_it_cannot_be_found_out_which_parameters_are_in_force) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuGraphMemsetNodeGetParams, Call(node, _)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_THROW(made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one()), cuda_error);
  EXPECT_EQ(alive, 2);
}

TEST_F(a_graph, finds_out_which_event_is_in_force_after_a_refused_update) {
  const auto with_event = [&](CUevent raw) {
    EXPECT_CALL(driver.cuEventCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(raw), Return(CUDA_SUCCESS)));
    return shared<event>(event::create(in_target()));
  };
  const auto next_event = made_up<CUevent>(0xe8);
  attaching(4);
  EXPECT_CALL(driver.cuGraphAddEventRecordNode, Call(_, _, _, _, _))
      .WillOnce(DoAll(SetArgPointee<0>(node), Return(CUDA_SUCCESS)));
  static_cast<void>(made->add_event_record(with_event(raw_event)));
  const shared<event> next = with_event(next_event);
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).Times(3).WillRepeatedly(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuGraphEventRecordNodeGetEvent, Call(node, _))
      .WillOnce(DoAll(SetArgPointee<1>(raw_event), Return(CUDA_SUCCESS)))
      .WillOnce(Return(CUDA_ERROR_UNKNOWN));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b2), 1U));
  EXPECT_THROW(made->set_event_record(node, next), cuda_error);
  EXPECT_THROW(made->set_event_record(node, next), cuda_error);
  EXPECT_CALL(driver.cuGraphEventWaitNodeGetEvent, Call(node, _))
      .WillOnce(DoAll(SetArgPointee<1>(next_event), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b1), 1U));
  EXPECT_CALL(driver.cuEventDestroy, Call(raw_event));
  EXPECT_THROW(made->set_event_wait(node, next), cuda_error);
  EXPECT_CALL(driver.cuEventDestroy, Call(next_event));
}

TEST_F(a_graph, keeps_the_new_owner_and_releases_the_old_one_if_only_the_restoration_fails_after_an_update) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuCtxGetCurrent, Call(_))
      .WillOnce(DoAll(SetArgPointee<0>(callers), Return(CUDA_SUCCESS)))
      .WillOnce(DoAll(SetArgPointee<0>(target), Return(CUDA_SUCCESS)));
  EXPECT_CALL(driver.cuCtxSetCurrent, Call(target));
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, made_up<CUuserObject>(0x0b1), 1U));
  set_context_restore_fault_for_testing(CUDA_ERROR_INVALID_CONTEXT);
  const cuda_error error = error_of([&] { made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one()); });
  EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(error.what(), HasSubstr("stays done"));
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(made->memset_of(node).dst, 0xd1U);
}

TEST_F(a_graph, reports_an_old_owner_that_cannot_be_released_after_an_update) {
  a_memset_node();
  attaching();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, _, 1U)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  made->set_memset(node, {0xd1, 2, 1, 64, 1, 0}, in_target(), one());
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuGraphReleaseUserObject", 0x0b1, CUDA_ERROR_UNKNOWN)));
  EXPECT_EQ(alive, 2);
}

TEST_F(a_graph, updates_only_a_value_without_touching_what_the_node_keeps_alive) {
  a_memset_node();
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _));
  made->set_memset(node, {0xd0, 9, 1, 64, 1, 0});
  EXPECT_EQ(made->memset_of(node).value, 9U);
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(node, _)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_THROW(made->set_memset(node, {0xd0, 7, 1, 64, 1, 0}), cuda_error);
  EXPECT_EQ(made->memset_of(node).value, 9U);
}

TEST_F(a_graph, refuses_a_node_that_is_not_its_own) {
  EXPECT_THROW(made->set_memset(node, {}), std::invalid_argument);
  EXPECT_THROW(made->destroy_node(node), std::invalid_argument);
}

TEST_F(a_graph, destroys_a_node_and_then_releases_its_owners) {
  a_memset_node();
  const ::testing::InSequence in_order;
  EXPECT_CALL(driver.cuGraphDestroyNode, Call(node));
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, _, 1U));
  made->destroy_node(node);
  EXPECT_EQ(alive, 0);
}

TEST_F(a_graph, keeps_a_nodes_owners_if_the_node_cannot_be_destroyed) {
  a_memset_node();
  EXPECT_CALL(driver.cuGraphDestroyNode, Call(node)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_THROW(made->destroy_node(node), cuda_error);
  EXPECT_EQ(alive, 1);
}

TEST_F(a_graph, keeps_and_replaces_the_events_of_its_event_nodes) {
  const auto with_event = [&](CUevent raw) {
    EXPECT_CALL(driver.cuEventCreate, Call(_, _)).WillOnce(DoAll(SetArgPointee<0>(raw), Return(CUDA_SUCCESS)));
    return shared<event>(event::create(in_target()));
  };
  const auto other_event = made_up<CUevent>(0xe8);
  attaching(4);
  EXPECT_CALL(driver.cuGraphAddEventRecordNode, Call(_, raw_graph, _, 0, raw_event))
      .WillOnce(DoAll(SetArgPointee<0>(node), Return(CUDA_SUCCESS)));
  const CUgraphNode recorded = made->add_event_record(with_event(raw_event));
  EXPECT_CALL(driver.cuGraphAddEventWaitNode, Call(_, raw_graph, _, 0, other_event))
      .WillOnce(DoAll(SetArgPointee<0>(made_up<CUgraphNode>(0x90df)), Return(CUDA_SUCCESS)));
  const CUgraphNode waited = made->add_event_wait(with_event(other_event));
  EXPECT_CALL(driver.cuGraphNodeSetParams, Call(_, _))
      .WillOnce([](CUgraphNode, CUgraphNodeParams* params) {
        EXPECT_EQ(params->type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
        return CUDA_SUCCESS;
      })
      .WillOnce([](CUgraphNode, CUgraphNodeParams* params) {
        EXPECT_EQ(params->type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
        return CUDA_SUCCESS;
      });
  EXPECT_CALL(driver.cuGraphReleaseUserObject, Call(raw_graph, _, 1U)).Times(2);
  EXPECT_CALL(driver.cuEventDestroy, Call(raw_event));
  EXPECT_CALL(driver.cuEventDestroy, Call(other_event));
  made->set_event_record(recorded, with_event(made_up<CUevent>(0xe9)));
  made->set_event_wait(waited, with_event(made_up<CUevent>(0xea)));
  EXPECT_CALL(driver.cuEventDestroy, Call(made_up<CUevent>(0xe9)));
  EXPECT_CALL(driver.cuEventDestroy, Call(made_up<CUevent>(0xea)));
}

TEST_F(a_graph, becomes_an_executable_one_that_is_launched_and_destroyed) {
  const auto raw_exec = made_up<CUgraphExec>(0xe8ec);
  const auto raw_stream = made_up<CUstream>(0x57);
  EXPECT_CALL(driver.cuGraphInstantiateWithParams, Call(_, raw_graph, _))
      .WillOnce(DoAll(SetArgPointee<0>(raw_exec), Return(CUDA_SUCCESS)));
  unique<graph_exec> executable = made->instantiate();
  EXPECT_EQ(executable->raw(), raw_exec);
  EXPECT_CALL(driver.cuGraphLaunch, Call(raw_exec, raw_stream));
  executable->launch(*stream::borrow(raw_stream));
  EXPECT_CALL(driver.cuGraphExecDestroy, Call(raw_exec)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  executable.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuGraphExecDestroy", raw_exec, CUDA_ERROR_UNKNOWN)));
}

TEST_F(a_graph, that_cannot_be_instantiated_raises_and_destroys_nothing) {
  EXPECT_CALL(driver.cuGraphInstantiateWithParams, Call(_, raw_graph, _)).WillOnce(Return(CUDA_ERROR_INVALID_VALUE));
  EXPECT_THROW(static_cast<void>(made->instantiate()), cuda_error);
}

TEST_F(a_graph, that_cannot_be_created_is_not_destroyed) {
  EXPECT_CALL(driver.cuGraphCreate, Call(_, 0U)).WillOnce(Return(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_THROW(static_cast<void>(graph::create()), cuda_error);
}

TEST_F(a_graph, reports_a_failed_destroy_and_leaks_what_its_nodes_use) {
  a_memset_node();
  EXPECT_CALL(driver.cuGraphDestroy, Call(raw_graph)).WillOnce(Return(CUDA_ERROR_UNKNOWN));
  made.reset();
  EXPECT_THAT(recorder.reports(), ElementsAre(Reported("cuGraphDestroy", raw_graph, CUDA_ERROR_UNKNOWN)));
  EXPECT_EQ(alive, 1);
  gone(made_up<CUuserObject>(0x0b1));
  drain_deferred();
}

TEST_F(a_graph, destroys_owners_only_after_the_drivers_callback_has_returned) {
  a_memset_node();
  EXPECT_CALL(driver.cuGraphDestroy, Call(raw_graph)).WillOnce([this](CUgraph) {
    gone(made_up<CUuserObject>(0x0b1));
    EXPECT_EQ(alive, 1);
    return CUDA_SUCCESS;
  });
  made.reset();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace cufault::handles

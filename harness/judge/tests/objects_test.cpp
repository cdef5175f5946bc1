// SPDX-License-Identifier: Apache-2.0
// Oracles about driver objects: P04, P16, P18.
#include <gtest/gtest.h>

#include "story.h"

namespace cufault::judge::testing {
namespace {

// Two objects are made on the way; the second creation fails.
story half_made() {
  story told;
  told.begin("make s", "make", "raises", "s").call("cuEventCreate", {0x7ff0, 0}, 0xe000);
  told.fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, out_of_memory);
  return told;
}

TEST(P04, HoldsWhereWhatWasMadeOnTheWayIsDestroyed) {
  story told = half_made();
  told.call("cuEventDestroy_v2", {0xe000}).raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P04").status, outcome::holds);
}

TEST(P04, IsViolatedByAnObjectThatStays) {
  story told = half_made();
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  const finding found = told.found("P04");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("event 0xe000"), std::string::npos);
}

TEST(P04, IsViolatedByANamedObjectThatIsGone) {
  story told;
  told.begin("make e", "make", "raises", "e")
      .call("cuEventCreate", {0x7ff0, 0}, 0xe000)
      .named("e", "event", 0xe000)
      .end();
  told.begin("use e", "use", "raises", "e").fails("cuEventRecord", {0xe000, 0}, invalid_context);
  told.call("cuEventDestroy_v2", {0xe000}).raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P04").status, outcome::violated);
}

TEST(P04, LeavesAnObjectWhoseDestroyFailedOrWhoseCreationAnsweredAnErrorAlone) {
  story told = half_made();
  told.fails("cuEventDestroy_v2", {0xe000}, invalid_context)
      .warns(report_of("cuEventDestroy", invalid_context, 0xe000));
  told.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(told.found("P04").status, outcome::holds);
  story unborn;
  unborn.begin("make s", "make", "raises")
      .does_and_fails("cuStreamCreateWithPriority", {0x7ff0, 0, 0}, out_of_memory, stream_s);
  unborn.raises("CUDAError", message_of(out_of_memory)).end("raised").exits(0);
  EXPECT_EQ(unborn.found("P04").status, outcome::holds);
}

TEST(P04, IsNotExercisedByCleanUpThatFailsAfterSuccess) {
  story told;
  told.begin("make g", "make", "raises").call("cuGraphInstantiateWithParams", {0x7ff0, 0x6000, 0x7ff8}, 0x6100);
  told.fails("cuUserObjectRelease", {0x9000, 1}, invalid_context).raises("CUDAError", message_of(invalid_context));
  EXPECT_EQ(told.end("raised").exits(0).found("P04").status, outcome::not_exercised);
}

story destroyed_stream() {
  story told;
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s).call("cuStreamDestroy_v2", {stream_s});
  return told;
}

TEST(P16, HoldsWhereEachObjectEndsOnce) { EXPECT_EQ(destroyed_stream().exits(0).found("P16").status, outcome::holds); }

TEST(P16, HoldsWhereTheDriverGivesAHandleAgain) {
  story told = destroyed_stream();
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s).call("cuStreamSynchronize", {stream_s});
  EXPECT_EQ(told.call("cuStreamDestroy_v2", {stream_s}).exits(0).found("P16").status, outcome::holds);
}

TEST(P16, IsViolatedByASecondDestroy) {
  const finding found = destroyed_stream().call("cuStreamDestroy_v2", {stream_s}).exits(0).found("P16");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("destroyed twice"), std::string::npos);
}

TEST(P16, IsViolatedByAUseAfterDestroy) {
  EXPECT_EQ(destroyed_stream().call("cuStreamSynchronize", {stream_s}).exits(0).found("P16").status, outcome::violated);
}

TEST(P16, IsViolatedByDestroyingAgainWhatMayBeGone) {
  story told;
  told.call("cuStreamCreate", {0x7ff0, 0}, stream_s).fails("cuStreamDestroy_v2", {stream_s}, invalid_context);
  EXPECT_EQ(told.call("cuStreamDestroy_v2", {stream_s}).exits(0).found("P16").status, outcome::violated);
}

TEST(P16, IsViolatedByMisuseThatTheDriverReports) {
  story told = destroyed_stream();
  told.record(CUFAULT_RECORD_MISUSE, "cuMemFree_v2", CUFAULT_MISUSE_DOUBLE_DESTROY, "freed twice").exits(0);
  EXPECT_EQ(told.found("P16").status, outcome::violated);
}

TEST(P16, IsViolatedByAReleaseTooMany) {
  story told;
  told.call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, 0x9000).call("cuGraphRetainUserObject", {0x6000, 0x9000, 1, 0});
  told.call("cuUserObjectRelease", {0x9000, 1}).call("cuUserObjectRelease", {0x9000, 1}).exits(0);
  EXPECT_EQ(told.found("P16").status, outcome::violated);
}

TEST(P16, IsViolatedByACleanUpThatIsSkippedWithoutAWord) {
  story told;
  told.begin("make s", "make", "raises", "s")
      .call("cuStreamCreate", {0x7ff0, 0}, stream_s)
      .named("s", "stream", stream_s)
      .end();
  told.begin("drop s", "drop", "implicit", "s").enter_fails(other, invalid_context).end().exits(0);
  EXPECT_EQ(told.found("P16").status, outcome::violated);
}

TEST(P16, HoldsWhereASkippedCleanUpIsReported) {
  story told;
  told.begin("make s", "make", "raises", "s")
      .call("cuStreamCreate", {0x7ff0, 0}, stream_s)
      .named("s", "stream", stream_s)
      .end();
  told.begin("drop s", "drop", "implicit", "s").enter_fails(other, invalid_context);
  told.warns(report_of("cuCtxSetCurrent", invalid_context, other)).end().exits(0);
  EXPECT_EQ(told.found("P16").status, outcome::holds);
}

TEST(P16, AllowsRestoringAContextThatSomebodyElseDestroyed) {
  story told = destroyed_stream();
  told.call("cuCtxCreate_v2", {0x7ff0, 0, 0}, other).call("cuCtxDestroy_v2", {other}).restores(other).exits(0);
  EXPECT_EQ(told.found("P16").status, outcome::holds);
}

TEST(P16, IsNotExercisedWithoutAnEnd) {
  EXPECT_EQ(story().call("cuStreamCreate", {0x7ff0, 0}, stream_s).exits(0).found("P16").status, outcome::not_exercised);
}

constexpr std::uint64_t graph = 0x6000;
constexpr std::uint64_t node = 0x6001;
constexpr std::uint64_t old_owner = 0x9000;
constexpr std::uint64_t new_owner = 0x9100;

// A graph with a node and its owner; the node gets new parameters with a new owner, then the restoration fails.
story updated_node() {
  story told;
  told.begin("make g", "make", "raises", "g").call("cuGraphCreate", {0x7ff0, 0}, graph);
  told.call("cuGraphAddMemsetNode", {0x7ff0, graph, 0, 0, 0x7ff8, home}, node);
  told.call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, old_owner);
  told.call("cuGraphRetainUserObject", {graph, old_owner, 1, 1}).end();
  told.begin("update g", "update", "raises", "g").enters(other);
  told.call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, new_owner);
  told.call("cuGraphRetainUserObject", {graph, new_owner, 1, 1});
  told.call("cuGraphMemsetNodeSetParams", {node, 0x7ff8}).restore_fails(home, invalid_context);
  return told;
}

TEST(P18, HoldsWhereTheNewOwnerStaysAndTheOldOneIsReleasedOnce) {
  story told = updated_node();
  told.call("cuGraphReleaseUserObject", {graph, old_owner, 1}).raises("CUDAError", message_of(invalid_context));
  told.end("raised").call("cuGraphDestroy", {graph}).exits(0);
  EXPECT_EQ(told.found("P18").status, outcome::holds);
}

TEST(P04, LeavesThePublishedOwnerOfAnUpdatedNodeToTheGraph) {
  story told = updated_node();
  told.call("cuGraphReleaseUserObject", {graph, old_owner, 1}).raises("CUDAError", message_of(invalid_context));
  EXPECT_EQ(told.end("raised").exits(0).found("P04").status, outcome::holds);
}

TEST(P18, IsViolatedWhereTheNewOwnerIsRolledBack) {
  story told = updated_node();
  told.call("cuGraphReleaseUserObject", {graph, new_owner, 1}).raises("CUDAError", message_of(invalid_context));
  told.end("raised").call("cuGraphDestroy", {graph}).exits(0);
  const finding found = told.found("P18");
  ASSERT_EQ(found.status, outcome::violated);
  EXPECT_NE(found.reason.find("given up while its graph lives"), std::string::npos);
}

TEST(P18, IsViolatedWhereTheOldOwnerIsReleasedTwice) {
  story told = updated_node();
  told.call("cuGraphReleaseUserObject", {graph, old_owner, 1}).call("cuGraphReleaseUserObject", {graph, old_owner, 1});
  told.raises("CUDAError", message_of(invalid_context)).end("raised").exits(0);
  EXPECT_EQ(told.found("P18").status, outcome::violated);
}

// The update fails; the rollback is the caller's to tell.
story failed_update() {
  story told;
  told.begin("make g", "make", "raises", "g").call("cuGraphCreate", {0x7ff0, 0}, graph);
  told.call("cuGraphAddMemsetNode", {0x7ff0, graph, 0, 0, 0x7ff8, home}, node);
  told.call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, old_owner);
  told.call("cuGraphRetainUserObject", {graph, old_owner, 1, 1}).end();
  told.begin("update g", "update", "raises", "g").call("cuUserObjectCreate", {0x7ff0, 0, 0, 1, 1}, new_owner);
  told.call("cuGraphRetainUserObject", {graph, new_owner, 1, 1});
  return told;
}

TEST(P18, HoldsWhereAFailedUpdateGivesUpTheNewOwnerOnly) {
  story told = failed_update();
  told.fails("cuGraphMemsetNodeSetParams", {node, 0x7ff8}, invalid_context);
  told.call("cuGraphReleaseUserObject", {graph, new_owner, 1}).raises("CUDAError", message_of(invalid_context));
  EXPECT_EQ(told.end("raised").exits(0).found("P18").status, outcome::holds);
}

TEST(P18, IsViolatedWhereAFailedUpdateGivesUpTheOldOwner) {
  story told = failed_update();
  told.fails("cuGraphMemsetNodeSetParams", {node, 0x7ff8}, invalid_context);
  told.call("cuGraphReleaseUserObject", {graph, old_owner, 1}).raises("CUDAError", message_of(invalid_context));
  EXPECT_EQ(told.end("raised").exits(0).found("P18").status, outcome::violated);
}

TEST(P18, IsViolatedWhereAnUpdateThatHappenedAndAnsweredAnErrorLosesItsNewOwner) {
  story told = failed_update();
  told.does_and_fails("cuGraphMemsetNodeSetParams", {node, 0x7ff8}, invalid_context);
  told.call("cuGraphReleaseUserObject", {graph, new_owner, 1}).raises("CUDAError", message_of(invalid_context));
  EXPECT_EQ(told.end("raised").exits(0).found("P18").status, outcome::violated);
}

TEST(P18, IsNotExercisedWithoutOwnersOrWithoutAFailure) {
  story told;
  told.begin("update g", "update", "raises", "g").fails("cuGraphMemsetNodeSetParams", {node, 0x7ff8}, invalid_context);
  EXPECT_EQ(told.end("raised").exits(0).found("P18").status, outcome::not_exercised);
  story clean = failed_update();
  clean.call("cuGraphMemsetNodeSetParams", {node, 0x7ff8}).end().exits(0);
  EXPECT_EQ(clean.found("P18").status, outcome::not_exercised);
}

}  // namespace
}  // namespace cufault::judge::testing

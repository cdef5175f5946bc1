// SPDX-License-Identifier: Apache-2.0
// P18: publish before you raise. The owners of what a graph's node uses outlive every failure after the node's update.
#include <algorithm>
#include <set>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// The graph, or executable graph, whose node it is.
std::uint64_t holder_of(const run& of, const event& update) {
  for (const api::role& role : update.entry->roles) {
    if (role.pointer || role.arg >= CUFAULT_TRACE_ARGS) continue;
    const std::string_view kind = api::kinds()[role.kind].name;
    const std::uint64_t handle = update.args[role.arg];
    if (kind == "graph_exec") return handle;
    if (kind != "graph_node") continue;
    for (auto thing = of.book.objects.rbegin(); thing != of.book.objects.rend(); ++thing) {
      if (thing->pid == update.pid && thing->kind == role.kind && thing->handle == handle) return thing->owner;
    }
  }
  return 0;
}

bool is_alive_holder(const run& of, std::uint32_t pid, std::uint64_t handle, std::size_t event) {
  return std::any_of(of.book.objects.begin(), of.book.objects.end(), [&](const object& thing) {
    const bool holds = thing.kind_name() == "graph" || thing.kind_name() == "graph_exec";
    return holds && thing.pid == pid && thing.handle == handle && ledger::alive_after(thing, event);
  });
}

// Graphs that were asked to hold the object, by calls before `until` and, with `in_step`, of that step only.
std::set<std::uint64_t> holders(const run& of, const object& owner, std::size_t until, std::size_t in_step) {
  std::set<std::uint64_t> found;
  for (std::size_t index = owner.born; index < std::min(until, of.calls.events.size()); ++index) {
    const event& call = of.calls.events[index];
    if (!call.is_call() || call.entry == nullptr || call.pid != owner.pid) continue;
    if (in_step != nowhere && of.step_of_call[index] != in_step) continue;
    for (const api::role& role : call.entry->roles) {
      if (role.what != api::verb::retains || role.holder < 0 || role.arg >= CUFAULT_TRACE_ARGS) continue;
      if (call.args[role.arg] == owner.handle) found.insert(call.args[static_cast<std::size_t>(role.holder)]);
    }
  }
  return found;
}

bool releases_by_hand(const event& call) { return call.entry != nullptr && call.entry->has_role(api::verb::releases); }

// Given up by a release, not by the end of a graph, while one of those graphs lives.
bool given_up(const run& of, const object& owner, const std::set<std::uint64_t>& by) {
  if (owner.state != fate::destroyed || !releases_by_hand(of.calls.events[owner.died])) return false;
  return std::any_of(by.begin(), by.end(),
                     [&](std::uint64_t holder) { return is_alive_holder(of, owner.pid, holder, owner.died); });
}

// The failure that came after the update on its thread, or the update's own.
const failure* failure_of(const run& of, std::size_t place, std::size_t update) {
  for (const failure& failed : of.failures) {
    if (failed.in_step == place && failed.call >= update && of.call(failed).thread == of.calls.events[update].thread) {
      return &failed;
    }
  }
  return nullptr;
}

void judge_update(const run& of, std::size_t place, std::size_t index, const failure& later, finder& found) {
  const event& update = of.calls.events[index];
  const std::uint64_t graph = holder_of(of, update);
  const std::vector<evidence> story = {of_call(of, index), of_call(of, later)};
  for (const object& owner : of.book.objects) {
    if (owner.kind_name() != "user_object" || owner.pid != update.pid || owner.born == nowhere) continue;
    const bool is_new = of.step_of_call[owner.born] == place;
    if (is_new && update.happened()) {
      found.exercised(of_call(of, index));
      std::set<std::uint64_t> by = holders(of, owner, nowhere, place);
      if (graph != 0) by.insert(graph);
      if (!given_up(of, owner, by)) continue;
      found.violated(describe(owner) + ", which keeps what the updated node uses, was given up while its graph lives",
                     {story[0], story[1], of_object(of, owner), of_call(of, owner.died)},
                     of.calls.events[owner.died].begin_ns);
    } else if (!is_new && owner.born < index && !update.succeeded() &&
               holders(of, owner, index, nowhere).contains(graph)) {
      found.exercised(of_call(of, index));
      if (owner.died == nowhere || of.step_of_call[owner.died] != place || !given_up(of, owner, {graph})) continue;
      found.violated(
          describe(owner) + ", which keeps what the node still uses, was given up although the update failed",
          {story[0], of_object(of, owner), of_call(of, owner.died)}, of.calls.events[owner.died].begin_ns);
    }
  }
  for (const incident& seen : of.book.incidents) {
    const object& owner = of.book.objects[seen.thing];
    if (owner.kind_name() != "user_object" || of.step_of_call[seen.call] != place || seen.call < index) continue;
    found.violated(describe(owner) + ", an owner of the node's former parameters, was released more than once",
                   {story[0], of_call(of, seen.call)}, of.calls.events[seen.call].begin_ns);
  }
}

}  // namespace

finding p18(const run& of) {
  finder found(author::R, "no operation failed in or after the update of a node with owners");
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const std::size_t place = of.step_of_call[index];
    if (place == nowhere || !updates_node(of.calls.events[index])) continue;
    const failure* later = failure_of(of, place, index);
    if (later != nullptr) judge_update(of, place, index, *later, found);
  }
  return found.result("the owners of each node stayed with its graph when a call failed in or after its update");
}

}  // namespace cufault::judge::oracles

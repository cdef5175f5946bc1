// SPDX-License-Identifier: Apache-2.0
// P18: publish before you raise. The owners of what a graph's node uses outlive every failure after the node's update.
#include <algorithm>
#include <set>

#include "oracles.h"

namespace cufault::judge::oracles {

namespace {

// cuGraphNodeSetParams, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, cuGraphEventRecordNodeSetEvent ...
bool updates_node(const event& call) {
  if (!call.succeeded()) return false;
  const std::string_view function = call.function();
  return function.starts_with("cuGraph") && (function.ends_with("NodeSetParams") || function.ends_with("NodeSetEvent"));
}

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

// Graphs that were asked to hold the object in that step.
std::set<std::uint64_t> holders_in(const run& of, std::size_t in_step, const object& owner) {
  std::set<std::uint64_t> found;
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& call = of.calls.events[index];
    if (of.step_of_call[index] != in_step || !call.is_call() || call.entry == nullptr) continue;
    for (const api::role& role : call.entry->roles) {
      if (role.what != api::verb::retains || role.holder < 0 || role.arg >= CUFAULT_TRACE_ARGS) continue;
      if (call.args[role.arg] == owner.handle) found.insert(call.args[static_cast<std::size_t>(role.holder)]);
    }
  }
  return found;
}

bool releases_by_hand(const event& call) { return call.entry != nullptr && call.entry->has_role(api::verb::releases); }

}  // namespace

finding p18(const run& of) {
  finder found(author::R, "no operation failed after it had updated a node with owners");
  for (std::size_t index = 0; index < of.calls.events.size(); ++index) {
    const event& update = of.calls.events[index];
    const std::size_t place = of.step_of_call[index];
    if (place == nowhere || !updates_node(update)) continue;
    const std::vector<const failure*> failed = of.failures_of(place);
    const auto later = std::find_if(failed.begin(), failed.end(), [&](const failure* one) {
      return one->call > index && of.call(*one).thread == update.thread;
    });
    if (later == failed.end()) continue;
    for (const object& owner : of.book.objects) {
      if (owner.kind_name() != "user_object" || owner.pid != update.pid || owner.born == nowhere) continue;
      if (of.step_of_call[owner.born] == place) {
        found.exercised(of_call(of, index));
        if (owner.state != fate::destroyed || !releases_by_hand(of.calls.events[owner.died])) continue;
        std::set<std::uint64_t> holders = holders_in(of, place, owner);
        if (const std::uint64_t holder = holder_of(of, update); holder != 0) holders.insert(holder);
        for (const std::uint64_t holder : holders) {
          if (!is_alive_holder(of, owner.pid, holder, owner.died)) continue;
          found.violated(
              describe(owner) + ", which keeps what the updated node uses, was given up while its graph lives",
              {of_call(of, index), of_call(of, **later), of_object(of, owner), of_call(of, owner.died)},
              of.calls.events[owner.died].begin_ns);
          break;
        }
      }
    }
    for (const incident& seen : of.book.incidents) {
      const object& owner = of.book.objects[seen.thing];
      if (owner.kind_name() != "user_object" || of.step_of_call[seen.call] != place || seen.call < index) continue;
      found.violated(describe(owner) + ", an owner of the node's former parameters, was released more than once",
                     {of_call(of, index), of_call(of, seen.call)}, of.calls.events[seen.call].begin_ns);
    }
  }
  return found.result("the owners of each updated node stayed with its graph when a later call failed");
}

}  // namespace cufault::judge::oracles

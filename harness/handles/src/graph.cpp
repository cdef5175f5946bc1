// SPDX-License-Identifier: Apache-2.0
// Graphs: attachments are prepared before the driver changes anything and committed before anything later may fail.
#include "cufault/handles/graph.h"

#include <memory>
#include <stdexcept>

#include "attachment.h"
#include "cufault/handles/deferred.h"
#include "cufault/handles/scope.h"

namespace cufault::handles {
namespace {

constexpr const char* owners_leaked = "what the graph node kept alive is leaked";

owners event_owner(const shared<event>& what) {
  owners keep;
  keep.emplace_back(what);
  return keep;
}

CUgraphNodeParams memset_node_params(const memset_params& params, CUcontext in) noexcept {
  CUgraphNodeParams native{};
  native.type = CU_GRAPH_NODE_TYPE_MEMSET;
  native.memset.dst = params.dst;
  native.memset.pitch = params.pitch;
  native.memset.value = params.value;
  native.memset.elementSize = params.element_size;
  native.memset.width = params.width;
  native.memset.height = params.height;
  native.memset.ctx = in;
  return native;
}

CUgraphNodeParams event_node_params(CUgraphNodeType type, const event& what) noexcept {
  CUgraphNodeParams params{};
  params.type = type;
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    params.eventRecord.event = what.raw();
  } else {
    params.eventWait.event = what.raw();
  }
  return params;
}

CUcontext context_of(const event& what) noexcept {
  return what.owning_context() ? what.owning_context()->raw() : nullptr;
}

}  // namespace

unique<graph> graph::create() {
  drain_deferred();
  unique<graph> made(new graph);
  CUgraph raw = nullptr;
  call(driver().cuGraphCreate, &raw, 0U);
  made->raw_ = raw;
  return made;
}

unique<graph> graph::adopt(CUgraph raw) {
  unique<graph> made(new graph);
  made->raw_ = raw;
  return made;
}

// Gives `keep` to the graph, in a user object that only the graph holds.
CUuserObject graph::attach(owners keep) {
  const driver_table& table = driver();
  auto prepared = std::make_unique<attachment>(std::move(keep));
  CUuserObject object = nullptr;
  call(table.cuUserObjectCreate, &object, static_cast<void*>(prepared.get()), &attachment::on_last_holder_gone, 1U,
       static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  static_cast<void>(prepared.release());  // the user object's now: freed when its last holder is gone
  if (const failure failed = attempt(table.cuGraphRetainUserObject, as_number(object), raw_, object, 1U,
                                     static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE))) {
    cuda_error error(failed);
    cleanup undoing;
    undoing.call(owners_leaked, table.cuUserObjectRelease, as_number(object), object, 1U);
    drain_deferred();
    undoing.attach_to(error);
    throw error;
  }
  return object;
}

void graph::detach(CUuserObject attachment, cleanup& failures) noexcept {
  if (attachment != nullptr) {
    failures.call(owners_leaked, loaded_driver()->cuGraphReleaseUserObject, as_number(attachment), raw_, attachment,
                  1U);
  }
}

void graph::detach_beside(cuda_error& error, CUuserObject attachment) noexcept {
  cleanup undoing;
  detach(attachment, undoing);
  drain_deferred();
  undoing.attach_to(error);
}

graph::node_record graph::record_of(CUgraphNode node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) {
    throw std::invalid_argument("the node " + handle_text(as_number(node)) + " is not one of this graph");
  }
  return found->second;
}

memset_params graph::memset_of(CUgraphNode node) const { return record_of(node).memset; }

void graph::detach_and_report(CUuserObject attachment) noexcept {
  cleanup failures;
  detach(attachment, failures);
  drain_deferred();
  failures.report();
}

CUgraphNode graph::add(node_record record, owners keep, function_ref<void(CUgraphNode*)> add_to_driver) {
  drain_deferred();
  // The entry is made under a key that no node has and renamed afterwards: nothing allocates once the node exists
  // (P28).
  std::unordered_map<CUgraphNode, node_record> entry;
  entry.emplace(nullptr, record);
  {
    const std::lock_guard lock(mutex_);
    nodes_.reserve(nodes_.size() + 1);
  }
  const CUuserObject attachment = keep.empty() ? nullptr : attach(std::move(keep));
  CUgraphNode node = nullptr;
  try {
    add_to_driver(&node);
  } catch (cuda_error& error) {
    detach_beside(error, attachment);
    throw;
  } catch (...) {
    detach_and_report(attachment);
    throw;
  }
  auto ready = entry.extract(entry.begin());
  ready.key() = node;
  ready.mapped().attachment = attachment;
  const std::lock_guard lock(mutex_);
  nodes_.insert(std::move(ready));
  return node;
}

CUgraphNode graph::add_empty(const dependencies& after) {
  return add({}, {},
             [&](CUgraphNode* node) { call(driver().cuGraphAddEmptyNode, node, raw_, after.data(), after.size()); });
}

CUgraphNode graph::add_memset(const memset_params& params, const shared<context>& in, owners keep,
                              const dependencies& after) {
  keep.emplace_back(in);
  CUDA_MEMSET_NODE_PARAMS native{};
  native.dst = params.dst;
  native.pitch = params.pitch;
  native.value = params.value;
  native.elementSize = params.element_size;
  native.width = params.width;
  native.height = params.height;
  return add({nullptr, in->raw(), params, nullptr}, std::move(keep), [&](CUgraphNode* node) {
    call(driver().cuGraphAddMemsetNode, node, raw_, after.data(), after.size(), &native, in->raw());
  });
}

CUgraphNode graph::add_event_record(const shared<event>& what, const dependencies& after) {
  return add({nullptr, context_of(*what), {}, what->raw()}, event_owner(what), [&](CUgraphNode* node) {
    call(driver().cuGraphAddEventRecordNode, node, raw_, after.data(), after.size(), what->raw());
  });
}

CUgraphNode graph::add_event_wait(const shared<event>& what, const dependencies& after) {
  return add({nullptr, context_of(*what), {}, what->raw()}, event_owner(what), [&](CUgraphNode* node) {
    call(driver().cuGraphAddEventWaitNode, node, raw_, after.data(), after.size(), what->raw());
  });
}

graph::embedded graph::add_child(const shared<graph>& child, const dependencies& after) {
  owners keep;
  keep.emplace_back(child);
  CUgraph clone = nullptr;
  const CUgraphNode node = add({}, std::move(keep), [&](CUgraphNode* added) {
    call(driver().cuGraphAddChildGraphNode, added, raw_, after.data(), after.size(), child->raw());
    if (const failure lost = attempt(driver().cuGraphChildGraphNodeGetGraph, as_number(*added), *added, &clone)) {
      cuda_error error(lost);
      cleanup undoing;
      undoing.call("the embedded graph stays in its parent", driver().cuGraphDestroyNode, as_number(*added), *added);
      undoing.attach_to(error);
      throw error;
    }
  });
  return {node, clone};
}

graph::in_force graph::after_refusal(CUgraphNode node, CUgraphNodeType type, const node_record& next) noexcept {
  const driver_table& table = *loaded_driver();
  if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
    CUDA_MEMSET_NODE_PARAMS now{};
    if (table.cuGraphMemsetNodeGetParams(node, &now) != CUDA_SUCCESS) {
      return in_force::unknown;
    }
    return now.dst == next.memset.dst ? in_force::next : in_force::former;
  }
  CUevent now = nullptr;
  const CUresult answer = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? table.cuGraphEventRecordNodeGetEvent(node, &now)
                                                                  : table.cuGraphEventWaitNodeGetEvent(node, &now);
  if (answer != CUDA_SUCCESS) {
    return in_force::unknown;
  }
  return now == next.event ? in_force::next : in_force::former;
}

// `prepared` is the new attachment, also in `next`; null where the node keeps the one it has.
void graph::set(CUgraphNode node, CUgraphNodeParams& params, const node_record& next, CUuserObject prepared) {
  // Whatever `going` holds at the end is released: the new attachment until the driver has taken the new parameters,
  // from that moment on the old one.
  CUuserObject going = prepared;
  bool published = false;
  const auto publish = [&] {
    const std::lock_guard lock(mutex_);
    node_record& record = nodes_.find(node)->second;
    going = prepared == nullptr ? nullptr : record.attachment;
    record = next;
    published = true;
  };
  try {
    graph_node_set_params(node, params, next.in, publish);
  } catch (cuda_error& error) {
    if (!published && prepared != nullptr) {
      switch (after_refusal(node, params.type, next)) {
        case in_force::former:
          break;
        case in_force::next:
          publish();
          break;
        case in_force::unknown:
          going = nullptr;  // both stay with the graph: rather leak one than let the node dangle (P16)
          break;
      }
    }
    detach_beside(error, going);
    throw;
  } catch (...) {
    detach_and_report(going);
    throw;
  }
  detach_and_report(going);
}

void graph::set_memset(CUgraphNode node, const memset_params& params, const shared<context>& in, owners keep) {
  drain_deferred();
  static_cast<void>(record_of(node));
  keep.emplace_back(in);
  CUgraphNodeParams native = memset_node_params(params, in->raw());
  const CUuserObject prepared = attach(std::move(keep));
  set(node, native, {prepared, in->raw(), params, nullptr}, prepared);
}

void graph::set_memset(CUgraphNode node, const memset_params& params) {
  drain_deferred();
  node_record next = record_of(node);
  next.memset = params;
  CUgraphNodeParams native = memset_node_params(params, next.in);
  set(node, native, next, nullptr);
}

void graph::set_event_record(CUgraphNode node, const shared<event>& what) {
  drain_deferred();
  static_cast<void>(record_of(node));
  CUgraphNodeParams native = event_node_params(CU_GRAPH_NODE_TYPE_EVENT_RECORD, *what);
  const CUuserObject prepared = attach(event_owner(what));
  set(node, native, {prepared, context_of(*what), {}, what->raw()}, prepared);
}

void graph::set_event_wait(CUgraphNode node, const shared<event>& what) {
  drain_deferred();
  static_cast<void>(record_of(node));
  CUgraphNodeParams native = event_node_params(CU_GRAPH_NODE_TYPE_WAIT_EVENT, *what);
  const CUuserObject prepared = attach(event_owner(what));
  set(node, native, {prepared, context_of(*what), {}, what->raw()}, prepared);
}

void graph::destroy_node(CUgraphNode node) {
  drain_deferred();
  const CUuserObject attachment = record_of(node).attachment;
  call(driver().cuGraphDestroyNode, node);
  {
    const std::lock_guard lock(mutex_);
    nodes_.erase(node);
  }
  detach_and_report(attachment);
}

unique<graph_exec> graph::instantiate(cuuint64_t flags) {
  drain_deferred();
  unique<graph_exec> made(new graph_exec);
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = flags;
  CUgraphExec raw = nullptr;
  call(driver().cuGraphInstantiateWithParams, &raw, raw_, &params);
  made->raw_ = raw;
  return made;
}

void graph::destroy(cleanup& failures) noexcept {
  if (const CUgraph raw = std::exchange(raw_, nullptr)) {
    failures.call("the graph is leaked, with what its nodes keep alive", loaded_driver()->cuGraphDestroy,
                  as_number(raw), raw);
  }
}

void graph_exec::launch(const stream& on) const { call(driver().cuGraphLaunch, raw_, on.raw()); }

void graph_exec::destroy(cleanup& failures) noexcept {
  if (const CUgraphExec raw = std::exchange(raw_, nullptr)) {
    failures.call("the executable graph is leaked, with what its nodes keep alive", loaded_driver()->cuGraphExecDestroy,
                  as_number(raw), raw);
  }
}

}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Graphs, their nodes with what these keep alive, and executable graphs.
#ifndef CUFAULT_HANDLES_GRAPH_H
#define CUFAULT_HANDLES_GRAPH_H

#include <mutex>
#include <unordered_map>
#include <vector>

#include "cufault/handles/function_ref.h"
#include "cufault/handles/memory.h"

namespace cufault::handles {

struct memset_params {
  CUdeviceptr dst = 0;
  unsigned value = 0;
  unsigned element_size = 1;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t pitch = 0;
};

class graph_exec;

// A graph and what its nodes keep alive: everything that their parameters refer to. The driver holds those owners
// through user objects: as long as the graph or an executable graph made from it may use them, they live, whatever
// happens to the handles here.
//
// Adding and updating prepare an attachment first, then change the graph, then commit; a failure in between takes the
// attachment back (P04), a failure after the change leaves it in force (P18).
class graph final : public resource {
 public:
  [[nodiscard]] static unique<graph> create();
  // Takes over a graph that the caller got from the driver (from a capture), at once or later with take().
  [[nodiscard]] static unique<graph> adopt(CUgraph raw);
  void take(CUgraph raw) noexcept { raw_ = raw; }

  [[nodiscard]] CUgraph raw() const noexcept { return raw_; }

  using dependencies = std::vector<CUgraphNode>;
  [[nodiscard]] CUgraphNode add_empty(const dependencies& after = {});
  // The node runs in `in`, which it keeps alive together with `keep`.
  [[nodiscard]] CUgraphNode add_memset(const memset_params& params, const shared<context>& in, owners keep,
                                       const dependencies& after = {});
  [[nodiscard]] CUgraphNode add_event_record(const shared<event>& what, const dependencies& after = {});
  [[nodiscard]] CUgraphNode add_event_wait(const shared<event>& what, const dependencies& after = {});
  // Embeds a clone of `child`, which is kept alive for the sake of what its nodes use, and gives the clone. If the
  // clone cannot be found, the node is destroyed again.
  struct embedded {
    CUgraphNode node;
    CUgraph clone;  // owned by this graph
  };
  [[nodiscard]] embedded add_child(const shared<graph>& child, const dependencies& after = {});

  // Replaces a node's parameters, with the node's context current. If only the restoration fails afterwards, that is
  // thrown, and the update stays done.
  void set_memset(CUgraphNode node, const memset_params& params, const shared<context>& in, owners keep);
  // The same where neither the memory nor the context changes: what the node keeps alive stays as it is.
  void set_memset(CUgraphNode node, const memset_params& params);
  void set_event_record(CUgraphNode node, const shared<event>& what);
  void set_event_wait(CUgraphNode node, const shared<event>& what);

  [[nodiscard]] memset_params memset_of(CUgraphNode node) const;

  // Removes a node. Once the driver has done it, what fails in releasing its owners is reported, not thrown.
  void destroy_node(CUgraphNode node);

  [[nodiscard]] unique<graph_exec> instantiate(cuuint64_t flags = 0);

 private:
  graph() = default;
  ~graph() override = default;
  void destroy(cleanup& failures) noexcept override;

  struct node_record {
    CUuserObject attachment = nullptr;
    CUcontext in = nullptr;  // kept alive by the attachment
    memset_params memset;
    CUevent event = nullptr;
  };

  CUgraphNode add(node_record record, owners keep, function_ref<void(CUgraphNode*)> add_to_driver);
  void set(CUgraphNode node, CUgraphNodeParams& params, const node_record& next, CUuserObject prepared);
  // Which parameters a node has after the driver refused new ones: a driver may take them and answer an error all the
  // same.
  enum class in_force { former, next, unknown };
  [[nodiscard]] static in_force after_refusal(CUgraphNode node, CUgraphNodeType type, const node_record& next) noexcept;
  [[nodiscard]] CUuserObject attach(owners keep);
  void detach(CUuserObject attachment, cleanup& failures) noexcept;
  void detach_and_report(CUuserObject attachment) noexcept;
  void detach_beside(cuda_error& error, CUuserObject attachment) noexcept;
  [[nodiscard]] node_record record_of(CUgraphNode node) const;

  CUgraph raw_ = nullptr;
  mutable std::mutex mutex_;  // guards the map only, never held across a driver call (P27)
  std::unordered_map<CUgraphNode, node_record> nodes_;
};

// An executable graph. It needs neither the graph nor its handles: the driver holds the owners for it too.
class graph_exec final : public resource {
 public:
  [[nodiscard]] CUgraphExec raw() const noexcept { return raw_; }
  void launch(const stream& on) const;

 private:
  friend class graph;
  graph_exec() = default;
  ~graph_exec() override = default;
  void destroy(cleanup& failures) noexcept override;

  CUgraphExec raw_ = nullptr;
};

}  // namespace cufault::handles

#endif

// SPDX-License-Identifier: Apache-2.0
// How work runs: one operation of a stream for each piece.
#include <algorithm>
#include <memory>

#include "context/context.h"
#include "core/call.h"
#include "event/event.h"
#include "graph/capture.h"
#include "graph/conditional.h"
#include "graph/graph.h"
#include "graph/memory_nodes.h"
#include "memory/copy.h"
#include "module/launch.h"
#include "stream/memory_operations.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {

template <class... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};
template <class... Bodies>
Overloaded(Bodies...) -> Overloaded<Bodies...>;

// Runs a function with something held until it has run.
std::function<void()> holding(std::function<void()> run, std::shared_ptr<const void> held) {
  if (!run || held == nullptr) return run;
  return [run = std::move(run), held = std::move(held)] { run(); };
}

void submit_graph(Call& call, const std::shared_ptr<Stream>& stream, const Graph& graph, const std::shared_ptr<const void>& held) {
  std::vector<Node*> order;
  Node* in_cycle = nullptr;
  if (!graph.sort(order, in_cycle)) return;
  for (const Node* node : order) submit_work(call, stream, node->work, held);
}

}  // namespace

void submit_work(Call& call, const std::shared_ptr<Stream>& stream, const Work& work, std::shared_ptr<const void> held) {
  Driver& driver = call.driver;
  const auto run = [&](std::function<void()> body) {
    Operation operation;
    operation.run = holding(std::move(body), held);
    submit(driver, stream, std::move(operation));
  };
  std::visit(
      Overloaded{
          [&](const EmptyWork&) { run({}); },
          [&](const KernelWork& kernel) { run(plan_kernel(call, kernel)); },
          [&](const CopyWork& copy) { run(plan_copy(call, copy.copy)); },
          [&](const SetWork& set) { run(plan_set(call, set.set)); },
          [&](const HostWork& host) {
            Operation operation;
            operation.application = Callback::host_function;
            operation.run = [function = host.params.fn, data = host.params.userData, held] { function(data); };
            submit(driver, stream, std::move(operation));
          },
          [&](const RecordWork& record_work) { record(driver, *record_work.event, stream); },
          [&](const WaitWork& wait) { wait_event(driver, *wait.event, stream); },
          [&](const ChildWork& child) { submit_graph(call, stream, *child.graph, held); },
          [&](const AllocWork& alloc) { run([&driver, alloc] { allocate_now(driver, alloc); }); },
          [&](const FreeWork& free) { run([&driver, free] { free_now(driver, free); }); },
          [&](const BatchWork& batch) { submit_memory_operations(call, stream, batch.operations); },
          [&](const ConditionalWork& conditional) {
            if (condition_holds(conditional)) submit_graph(call, stream, *conditional.bodies.front(), held);
          },
      },
      work);
}

void enqueue(Call& call, const std::shared_ptr<Stream>& stream, Work work) {
  if (capturing(*stream)) {
    capture_work(call, *stream, std::move(work));
    return;
  }
  refuse_implicit(call, *stream);
  submit_work(call, stream, work);
}

}  // namespace cufault::sim

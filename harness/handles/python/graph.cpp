// SPDX-License-Identifier: Apache-2.0
// GraphDefinition, its nodes, and Graph (the executable one).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <optional>

#include "cufault/handles/scope.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace cufault::reference {
namespace {

// Where a memset node writes, and what that keeps alive.
struct destination {
  CUdeviceptr dst = 0;
  handles::shared<handles::context> in;
  handles::owners keep;
};

struct py_graph_definition {
  owner<handles::graph> handle;
  std::size_t node_count = 0;
};

using definition_ref = std::shared_ptr<py_graph_definition>;

struct py_node {
  definition_ref definition;
  CUgraphNode raw;

  [[nodiscard]] CUgraphNode get() const {
    if (raw == nullptr) {
      throw std::runtime_error("this graph node is destroyed");
    }
    return raw;
  }
};

struct py_empty_node : py_node {};
struct py_memset_node : py_node {
  [[nodiscard]] handles::memset_params params() const { return definition->handle->memset_of(get()); }
};
struct py_record_node : py_node {};
struct py_wait_node : py_node {};

struct py_graph {
  owner<handles::graph_exec> handle;
};

// A context that nobody here owns: the one that is current, for memory whose context is unknown.
handles::shared<handles::context> current_context() {
  const without_gil unlocked;
  const CUcontext current = handles::get_current();
  return handles::context::foreign(current, -1);
}

destination destination_of(nb::handle dst, const std::optional<nb::object>& dst_owner) {
  destination chosen;
  if (nb::isinstance<py_buffer>(dst)) {
    const handles::shared<handles::buffer> memory = *nb::cast<py_buffer&>(dst).handle;
    chosen.dst = memory->address();
    chosen.in = memory->owning_context() ? memory->owning_context() : current_context();
    chosen.keep.emplace_back(memory);
  } else {
    chosen.dst = nb::cast<CUdeviceptr>(dst);
    chosen.in = current_context();
  }
  if (dst_owner && !dst_owner->is_none()) {
    handles::shared<handles::resource> kept = handles::unique<python_owner>(new python_owner(*dst_owner));
    chosen.keep.push_back(std::move(kept));
  }
  return chosen;
}

// An integer is one byte; bytes of length 1, 2 or 4 are one element, least significant byte first.
void set_value(handles::memset_params& params, nb::handle value) {
  if (!nb::isinstance<nb::bytes>(value)) {
    params.value = nb::cast<std::uint8_t>(value);
    params.element_size = 1;
    return;
  }
  const nb::bytes given = nb::borrow<nb::bytes>(value);
  if (given.size() != 1 && given.size() != 2 && given.size() != 4) {
    throw std::invalid_argument("a fill value has 1, 2 or 4 bytes");
  }
  params.value = 0;
  for (std::size_t i = given.size(); i-- > 0;) {
    params.value = params.value << 8 | static_cast<unsigned char>(given.c_str()[i]);
  }
  params.element_size = static_cast<unsigned>(given.size());
}

py_memset_node add_memset(const definition_ref& self, nb::handle dst, nb::handle value, std::size_t width,
                          std::size_t height, std::size_t pitch, const std::optional<nb::object>& dst_owner) {
  const handles::shared<handles::graph> graph = *self->handle;
  destination chosen = destination_of(dst, dst_owner);
  handles::memset_params params;
  set_value(params, value);
  params.dst = chosen.dst;
  params.width = width;
  params.height = height;
  params.pitch = pitch;
  CUgraphNode node = nullptr;
  {
    const without_gil unlocked;
    node = graph->add_memset(params, chosen.in, std::move(chosen.keep));
  }
  ++self->node_count;
  return py_memset_node{{self, node}};
}

void update_memset(const py_memset_node& self, std::optional<nb::object> dst, std::optional<nb::object> value,
                   std::optional<std::size_t> width, std::optional<std::size_t> height,
                   std::optional<std::size_t> pitch, const std::optional<nb::object>& dst_owner) {
  const handles::shared<handles::graph> graph = *self.definition->handle;
  handles::memset_params params = self.params();
  if (value && !value->is_none()) {
    set_value(params, *value);
  }
  params.width = width.value_or(params.width);
  params.height = height.value_or(params.height);
  params.pitch = pitch.value_or(params.pitch);
  if (!dst || dst->is_none()) {
    if (dst_owner && !dst_owner->is_none()) {
      throw std::invalid_argument("dst_owner needs a dst");
    }
    const without_gil unlocked;
    graph->set_memset(self.get(), params);
    return;
  }
  destination chosen = destination_of(*dst, dst_owner);
  params.dst = chosen.dst;
  const without_gil unlocked;
  graph->set_memset(self.get(), params, chosen.in, std::move(chosen.keep));
}

template <class Node, class Add>
Node add_event_node(const definition_ref& self, py_event& event, Add add) {
  const handles::shared<handles::graph> graph = *self->handle;
  const handles::shared<handles::event> what = *event.handle;
  CUgraphNode node = nullptr;
  {
    const without_gil unlocked;
    node = (graph.get()->*add)(what, {});
  }
  ++self->node_count;
  return Node{{self, node}};
}

template <class Node, class Set>
void update_event_node(const Node& self, py_event& event, Set set) {
  const handles::shared<handles::graph> graph = *self.definition->handle;
  const handles::shared<handles::event> what = *event.handle;
  const without_gil unlocked;
  (graph.get()->*set)(self.get(), what);
}

void destroy_node(py_node& self) {
  const handles::shared<handles::graph> graph = *self.definition->handle;
  {
    const without_gil unlocked;
    graph->destroy_node(self.get());
  }
  self.raw = nullptr;
  --self.definition->node_count;
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<py_node>(module, "GraphNode", nb::is_weak_referenceable())
      .def_prop_ro("handle", [](const py_node& self) { return handles::as_number(self.raw); })
      .def_prop_ro("graph", [](const py_node& self) { return self.definition; })
      .def_prop_ro("is_valid",
                   [](const py_node& self) { return self.raw != nullptr && !self.definition->handle.closed(); })
      .def("destroy", &destroy_node,
           "Remove the node. What fails in releasing what it kept alive is warned of: the node is gone by then.");
  nb::class_<py_empty_node, py_node>(module, "EmptyNode");
  nb::class_<py_memset_node, py_node>(module, "MemsetNode")
      .def("update", &update_memset, nb::kw_only(), "dst"_a = nb::none(), "value"_a = nb::none(),
           "width"_a = nb::none(), "height"_a = nb::none(), "pitch"_a = nb::none(), "dst_owner"_a = nb::none(),
           "Replace selected parameters. If it raises because the caller's context could not be restored, the update "
           "was\n"
           "made and stays.")
      .def_prop_ro("dptr", [](const py_memset_node& self) { return self.params().dst; })
      .def_prop_ro("value", [](const py_memset_node& self) { return self.params().value; })
      .def_prop_ro("element_size", [](const py_memset_node& self) { return self.params().element_size; })
      .def_prop_ro("width", [](const py_memset_node& self) { return self.params().width; })
      .def_prop_ro("height", [](const py_memset_node& self) { return self.params().height; })
      .def_prop_ro("pitch", [](const py_memset_node& self) { return self.params().pitch; });
  nb::class_<py_record_node, py_node>(module, "EventRecordNode")
      .def(
          "update",
          [](const py_record_node& self, py_event& event) {
            update_event_node(self, event, &handles::graph::set_event_record);
          },
          "event"_a);
  nb::class_<py_wait_node, py_node>(module, "EventWaitNode")
      .def(
          "update",
          [](const py_wait_node& self, py_event& event) {
            update_event_node(self, event, &handles::graph::set_event_wait);
          },
          "event"_a);

  nb::class_<py_graph>(module, "Graph", nb::is_weak_referenceable())
      .def_prop_ro(
          "handle",
          [](const py_graph& self) { return self.handle.closed() ? 0 : handles::as_number(self.handle->raw()); })
      .def_prop_ro("is_closed", [](const py_graph& self) { return self.handle.closed(); })
      .def(
          "launch",
          [](py_graph& self, py_stream& stream) {
            const handles::shared<handles::graph_exec> executable = *self.handle;
            const handles::shared<handles::stream> on = *stream.handle;
            const without_gil unlocked;
            executable->launch(*on);
          },
          "stream"_a)
      .def(
          "close", [](py_graph& self) { self.handle.close(); }, nb::call_guard<without_gil>(),
          "Destroy the executable graph; raises if that fails.");

  nb::class_<py_graph_definition>(module, "GraphDefinition", nb::is_weak_referenceable())
      .def(nb::new_([] {
        handles::shared<handles::graph> made;
        {
          const without_gil unlocked;
          made = handles::graph::create();
        }
        return std::make_shared<py_graph_definition>(py_graph_definition{{std::move(made), "graph definition"}, 0});
      }))
      .def_prop_ro("handle",
                   [](const py_graph_definition& self) {
                     return self.handle.closed() ? 0 : handles::as_number(self.handle->raw());
                   })
      .def_prop_ro("is_valid", [](const py_graph_definition& self) { return !self.handle.closed(); })
      .def("empty",
           [](const definition_ref& self) {
             const handles::shared<handles::graph> graph = *self->handle;
             CUgraphNode node = nullptr;
             {
               const without_gil unlocked;
               node = graph->add_empty();
             }
             ++self->node_count;
             return py_empty_node{{self, node}};
           })
      .def("memset", &add_memset, "dst"_a, "value"_a, "width"_a, "height"_a = 1, "pitch"_a = 0, nb::kw_only(),
           "dst_owner"_a = nb::none())
      .def(
          "record",
          [](const definition_ref& self, py_event& event) {
            return add_event_node<py_record_node>(self, event, &handles::graph::add_event_record);
          },
          "event"_a)
      .def(
          "wait",
          [](const definition_ref& self, py_event& event) {
            return add_event_node<py_wait_node>(self, event, &handles::graph::add_event_wait);
          },
          "event"_a)
      .def("__len__", [](const py_graph_definition& self) { return self.node_count; })
      .def("instantiate",
           [](const py_graph_definition& self) {
             const handles::shared<handles::graph> graph = *self.handle;
             handles::shared<handles::graph_exec> made;
             {
               const without_gil unlocked;
               made = graph->instantiate();
             }
             return py_graph{{std::move(made), "graph"}};
           })
      .def(
          "close", [](py_graph_definition& self) { self.handle.close(); }, nb::call_guard<without_gil>(),
          "Destroy the graph; raises if that fails. What its nodes keep alive goes once no executable graph needs it.");
}

}  // namespace cufault::reference

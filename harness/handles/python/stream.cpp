// SPDX-License-Identifier: Apache-2.0
// Stream and Event.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace cufault::reference {
namespace {

py_stream borrowed(std::uint64_t raw) {
  return py_stream{{handles::stream::borrow(reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(raw))), "stream"}};
}

nb::object record(py_stream& self, nb::object event, nb::handle given_options) {
  const handles::shared<handles::stream> on = *self.handle;
  if (!event.is_none()) {
    const handles::shared<handles::event> what = *nb::cast<py_event&>(event).handle;
    const without_gil unlocked;
    on->record(*what);
    return event;
  }
  const options given(given_options, {"timing_enabled", "blocking_sync"});
  unsigned flags = given.get("timing_enabled", false) ? 0U : static_cast<unsigned>(CU_EVENT_DISABLE_TIMING);
  flags |= given.get("blocking_sync", false) ? static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC) : 0U;
  handles::shared<handles::event> made;
  {
    const without_gil unlocked;
    handles::shared<handles::event> created = handles::event::create(on->owning_context(), flags);
    on->record(*created);
    made = std::move(created);
  }
  return nb::cast(py_event{{std::move(made), "event"}});
}

void wait(py_stream& self, nb::handle event_or_stream) {
  const handles::shared<handles::stream> on = *self.handle;
  if (nb::isinstance<py_event>(event_or_stream)) {
    const handles::shared<handles::event> what = *nb::cast<py_event&>(event_or_stream).handle;
    const without_gil unlocked;
    on->wait(*what);
    return;
  }
  const handles::shared<handles::stream> other = *nb::cast<py_stream&>(event_or_stream).handle;
  const without_gil unlocked;
  const handles::unique<handles::event> between = handles::event::create(other->owning_context());
  other->record(*between);
  on->wait(*between);
}

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<py_event>(module, "Event", nb::is_weak_referenceable())
      .def_prop_ro(
          "handle",
          [](const py_event& self) { return self.handle.closed() ? 0 : handles::as_number(self.handle->raw()); })
      .def_prop_ro("is_closed", [](const py_event& self) { return self.handle.closed(); })
      .def_prop_ro("is_timing_enabled",
                   [](const py_event& self) { return (self.handle->flags() & CU_EVENT_DISABLE_TIMING) == 0; })
      .def_prop_ro(
          "is_done", [](py_event& self) { return self.handle->done(); }, nb::call_guard<without_gil>())
      .def(
          "sync", [](py_event& self) { self.handle->synchronize(); }, nb::call_guard<without_gil>())
      .def(
          "close", [](py_event& self) { self.handle.close(); }, nb::call_guard<without_gil>(),
          "Give this reference up; the last one destroys the event, and raises if that fails.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__", [](py_event& self, nb::args) { self.handle.close(); }, nb::call_guard<without_gil>());

  nb::class_<py_stream>(module, "Stream", nb::is_weak_referenceable())
      .def_static("from_handle", &borrowed, "handle"_a,
                  "Refer to somebody else's stream, who must keep it alive. It is never destroyed here.")
      .def_prop_ro(
          "handle",
          [](const py_stream& self) { return self.handle.closed() ? 0 : handles::as_number(self.handle->raw()); })
      .def_prop_ro("is_closed", [](const py_stream& self) { return self.handle.closed(); })
      .def_prop_ro("is_nonblocking",
                   [](const py_stream& self) { return (self.handle->flags() & CU_STREAM_NON_BLOCKING) != 0; })
      .def_prop_ro("priority", [](const py_stream& self) { return self.handle->priority(); })
      .def_prop_ro("context",
                   [](const py_stream& self) -> nb::object {
                     if (self.handle->owned()) {
                       return nb::cast(py_context{{self.handle->owning_context(), "context"}});
                     }
                     return nb::none();
                   })
      .def(
          "sync", [](py_stream& self) { self.handle->synchronize(); }, nb::call_guard<without_gil>())
      .def("record", &record, "event"_a = nb::none(), "options"_a = nb::none())
      .def("wait", &wait, "event_or_stream"_a)
      .def(
          "close", [](py_stream& self) { self.handle.close(); }, nb::call_guard<without_gil>(),
          "Give this reference up; the last one destroys the stream, and raises if that fails.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__", [](py_stream& self, nb::args) { self.handle.close(); }, nb::call_guard<without_gil>())
      .def("__cuda_stream__",
           [](const py_stream& self) { return nb::make_tuple(0, handles::as_number(self.handle->raw())); });

  module.attr("LEGACY_DEFAULT_STREAM") = borrowed(handles::as_number(CU_STREAM_LEGACY));
  module.attr("PER_THREAD_DEFAULT_STREAM") = borrowed(handles::as_number(CU_STREAM_PER_THREAD));
}

}  // namespace cufault::reference

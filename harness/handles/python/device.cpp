// SPDX-License-Identifier: Apache-2.0
// Device and Context.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "cufault/handles/scope.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace cufault::reference {
namespace {

// Filled under the interpreter's lock and never destroyed: objects that outlive the interpreter may refer to devices.
std::map<int, std::unique_ptr<py_device>>& devices() {
  static auto* all = new std::map<int, std::unique_ptr<py_device>>;
  return *all;
}

py_device& device_of_current_context() {
  int ordinal = 0;
  {
    const without_gil unlocked;
    static_cast<void>(handles::device::count());  // initialises the driver
    if (const CUcontext current = handles::get_current()) {
      ordinal = handles::context_get_device(current);
    }
  }
  return device_of(ordinal);
}

nb::object set_current(py_device& self, std::optional<nb::object> given) {
  py_context* chosen = given && !given->is_none() ? nb::cast<py_context*>(*given) : nullptr;
  if (chosen != nullptr && chosen->handle->kind() != handles::context_kind::foreign &&
      chosen->handle->device() != self.handle.raw()) {
    throw std::invalid_argument("the context is not one of this device");
  }
  CUcontext previous = nullptr;
  {
    const handles::shared<handles::context> target =
        chosen != nullptr ? *chosen->handle : handles::shared<handles::context>();
    const without_gil unlocked;
    if (target) {
      previous = handles::set_current(target->raw());
    } else {
      const handles::shared<handles::context> primary = self.handle.primary();
      previous = handles::set_current(primary->raw());
      self.handle.keep(primary);
    }
  }
  return context_object(previous);
}

template <class Create>
auto in_primary(py_device& device, Create create) {
  const without_gil unlocked;
  const handles::shared<handles::context> primary = device.handle.primary();
  auto made = create(primary);
  device.handle.keep(primary);
  return made;
}

py_stream create_stream(py_device& self, nb::handle given_options) {
  const options given(given_options, {"nonblocking", "priority"});
  const unsigned flags = given.get("nonblocking", true) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  const int priority = given.get("priority", 0);
  handles::shared<handles::stream> made =
      in_primary(self, [&](const auto& primary) { return handles::stream::create(primary, flags, priority); });
  return py_stream{{std::move(made), "stream"}};
}

py_event create_event(py_device& self, nb::handle given_options) {
  const options given(given_options, {"timing_enabled", "blocking_sync"});
  unsigned flags = given.get("timing_enabled", false) ? 0U : static_cast<unsigned>(CU_EVENT_DISABLE_TIMING);
  flags |= given.get("blocking_sync", false) ? static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC) : 0U;
  handles::shared<handles::event> made =
      in_primary(self, [&](const auto& primary) { return handles::event::create(primary, flags); });
  return py_event{{std::move(made), "event"}};
}

py_buffer allocate(py_device& self, std::size_t size, py_stream& stream) {
  const handles::shared<handles::stream> on = *stream.handle;
  handles::shared<handles::buffer> made = in_primary(self, [&](const auto& primary) {
    return handles::buffer::allocate_async(on->owned() ? on->owning_context() : primary, on, size);
  });
  const CUdeviceptr address = made->address();
  nb::object resource = nb::module_::import_("cufault.reference").attr("DeviceMemoryResource")(self.handle.ordinal());
  return py_buffer{{std::move(made), "buffer"}, std::move(resource), address, size, nullptr};
}

int attribute(const py_device& self, CUdevice_attribute which) {
  int value = 0;
  const without_gil unlocked;
  handles::call(handles::driver().cuDeviceGetAttribute, &value, which, self.handle.raw());
  return value;
}

std::string name_of(const py_device& self) {
  char name[256] = "";
  const without_gil unlocked;
  handles::call(handles::driver().cuDeviceGetName, name, static_cast<int>(sizeof name), self.handle.raw());
  return name;
}

}  // namespace

py_device& device_of(int ordinal) {
  const auto found = devices().find(ordinal);
  if (found != devices().end()) {
    return *found->second;
  }
  std::unique_ptr<py_device> made;
  {
    const without_gil unlocked;
    made = std::make_unique<py_device>(ordinal);
  }
  return *devices().try_emplace(ordinal, std::move(made)).first->second;
}

py_device& device_of(nb::handle given) {
  return nb::isinstance<py_device>(given) ? *nb::cast<py_device*>(given) : device_of(nb::cast<int>(given));
}

nb::object context_object(CUcontext raw) {
  if (raw == nullptr) {
    return nb::none();
  }
  return nb::cast(py_context{{handles::context::foreign(raw, -1), "context"}});
}

options::options(nb::handle given, std::initializer_list<const char*> known) : given_(given) {
  if (!nb::isinstance<nb::dict>(given)) {
    return;
  }
  for (const auto& [key, value] : nb::borrow<nb::dict>(given)) {
    const std::string name = nb::cast<std::string>(key);
    if (std::none_of(known.begin(), known.end(), [&](const char* one) { return name == one; })) {
      throw nb::type_error(("there is no option " + name).c_str());
    }
  }
}

nb::object options::find(const char* name) const {
  if (given_.is_none()) {
    return nb::none();
  }
  return nb::isinstance<nb::dict>(given_) ? nb::borrow<nb::dict>(given_).get(name, nb::none())
                                          : nb::getattr(given_, name, nb::none());
}

void bind_device(nb::module_& module) {
  nb::class_<py_context>(module, "Context", nb::is_weak_referenceable())
      .def_static(
          "create",
          [](nb::handle device) {
            py_device& owner = device_of(device);
            handles::shared<handles::context> made;
            {
              const without_gil unlocked;
              made = handles::context::create(owner.handle.raw());
            }
            return py_context{{std::move(made), "context"}};
          },
          "device"_a, "Make a context of its own on a device (cuCtxCreate). The caller's context stays current.")
      .def_prop_ro(
          "handle",
          [](const py_context& self) { return self.handle.closed() ? 0 : handles::as_number(self.handle->raw()); })
      .def_prop_ro("is_closed", [](const py_context& self) { return self.handle.closed(); })
      .def(
          "close", [](py_context& self) { self.handle.close(); }, nb::call_guard<without_gil>(),
          "Give this reference up; the last one destroys the context, and raises if that fails.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__", [](py_context& self, nb::args) { self.handle.close(); }, nb::call_guard<without_gil>())
      .def(
          "__eq__",
          [](const py_context& self, const py_context& other) {
            return !self.handle.closed() && !other.handle.closed() && self.handle->raw() == other.handle->raw();
          },
          nb::is_operator())
      .def("__hash__", [](const py_context& self) { return handles::as_number(self.handle->raw()); });

  nb::class_<py_device>(module, "Device", nb::is_weak_referenceable())
      .def(nb::new_([](std::optional<int> ordinal) -> py_device* {
             return ordinal ? &device_of(*ordinal) : &device_of_current_context();
           }),
           "device_id"_a = nb::none(), nb::rv_policy::reference)
      .def_prop_ro("device_id", [](const py_device& self) { return self.handle.ordinal(); })
      .def_prop_ro("name", &name_of)
      .def_prop_ro("compute_capability",
                   [](const py_device& self) {
                     return nb::make_tuple(attribute(self, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                           attribute(self, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
                   })
      .def_static("get_all_devices",
                  [] {
                    nb::list all;
                    int count = 0;
                    {
                      const without_gil unlocked;
                      count = handles::device::count();
                    }
                    for (int ordinal = 0; ordinal < count; ++ordinal) {
                      all.append(nb::cast(&device_of(ordinal), nb::rv_policy::reference));
                    }
                    return nb::tuple(all);
                  })
      .def(
          "set_current", &set_current, "ctx"_a = nb::none(),
          "Make the device's primary context, or `ctx`, current on this thread, with one cuCtxSetCurrent. Returns the\n"
          "context that was current before, or None. If it raises, the previous context is still current.")
      .def_prop_ro("context",
                   [](py_device& self) {
                     handles::shared<handles::context> primary =
                         in_primary(self, [](const auto& retained) { return retained; });
                     return py_context{{std::move(primary), "context"}};
                   })
      .def("create_context",
           [](py_device& self) {
             handles::shared<handles::context> made;
             {
               const without_gil unlocked;
               made = handles::context::create(self.handle.raw());
             }
             return py_context{{std::move(made), "context"}};
           })
      .def("create_stream", &create_stream, "options"_a = nb::none())
      .def("create_event", &create_event, "options"_a = nb::none())
      .def("allocate", &allocate, "size"_a, nb::kw_only(), "stream"_a)
      .def_prop_ro("default_stream",
                   [](py_device&) { return nb::module_::import_("cufault.reference").attr("LEGACY_DEFAULT_STREAM"); })
      .def("sync",
           [](py_device& self) {
             in_primary(self, [](const auto& primary) {
               handles::run_in_context(primary->raw(), [] { handles::call(handles::driver().cuCtxSynchronize); });
               return 0;
             });
           })
      .def("__int__", [](const py_device& self) { return self.handle.ordinal(); })
      .def("__repr__", [](const py_device& self) { return "<Device " + std::to_string(self.handle.ordinal()) + ">"; });

  // Called by atexit, while warnings can still be shown: from then on everything is leaked.
  module.def("_forget_primary_contexts", [] {
    for (const auto& [ordinal, device] : devices()) {
      const without_gil unlocked;
      device->handle.forget();
    }
  });
}

}  // namespace cufault::reference

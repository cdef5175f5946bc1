// SPDX-License-Identifier: Apache-2.0
// Buffer and the memory resources.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <string>

#include "errors.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace cufault::reference {
namespace {

// The base class; Python code may derive from it.
struct py_memory_resource {
  virtual ~py_memory_resource() = default;
};

struct py_plain_resource : py_memory_resource {
  explicit py_plain_resource(nb::handle given) : device(device_of(given)) {}
  py_device& device;
};

struct py_pinned_resource : py_memory_resource {};

struct py_pool_resource : py_memory_resource {
  py_pool_resource(nb::handle given_device, nb::handle given_options) : device(device_of(given_device)) {
    const bool own = !given_options.is_none();
    const options given(given_options, {"max_size", "ipc_enabled"});
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle.ordinal();
    properties.maxSize = given.get("max_size", std::size_t{0});
    properties.handleTypes =
        given.get("ipc_enabled", false) ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
    const without_gil unlocked;
    pool.emplace(own ? handles::memory_pool::create(properties) : handles::memory_pool::current_of(device.handle.raw()),
                 "memory resource");
  }

  py_device& device;
  std::optional<owner<handles::memory_pool>> pool;
};

// Memory that a user's memory resource, written in Python, takes back; or that some Python object owns.
class python_memory final : public handles::user_memory {
 public:
  // The lock must be held.
  python_memory(nb::object from, nb::object owner, nb::object stream) noexcept
      : resource_(from.release().ptr()), owner_(owner.release().ptr()), stream_(stream.release().ptr()) {}

  // Calls the resource's deallocate(); an exception becomes a warning. Python work: left undone where the interpreter
  // ends.
  void deallocate(CUdeviceptr address, std::size_t size, handles::view<handles::stream>) noexcept override {
    if (resource_ == Py_None || !interpreter_usable()) {
      return;
    }
    const with_gil locked;
    const exception_kept pending;
    try {
      deallocate_now(address, size);
    } catch (const std::exception& raised) {
      warn((handles::handle_text(address) +
            " could not be given back by its memory resource and is leaked: " + raised.what())
               .c_str());
    }
  }

  // The lock must be held; throws what the resource raises.
  void deallocate_now(CUdeviceptr address, std::size_t size) {
    nb::handle(resource_).attr("deallocate")(address, size, "stream"_a = nb::handle(stream_));
  }
  [[nodiscard]] bool has_resource() const noexcept { return resource_ != Py_None; }

 private:
  ~python_memory() override = default;
  void destroy(handles::cleanup&) noexcept override {
    if (interpreter_usable()) {
      const with_gil locked;
      const exception_kept pending;
      Py_DECREF(resource_);
      Py_DECREF(owner_);
      Py_DECREF(stream_);
    }
  }

  PyObject* resource_;
  PyObject* owner_;
  PyObject* stream_;
};

template <class Made>
py_buffer buffer_object(Made&& made, nb::object resource) {
  const CUdeviceptr address = made->address();
  const std::size_t size = made->size();
  return py_buffer{{std::forward<Made>(made), "buffer"}, std::move(resource), address, size, nullptr};
}

handles::shared<handles::stream> stream_of(std::optional<nb::object> given) {
  return given && !given->is_none() ? *nb::cast<py_stream&>(*given).handle : handles::shared<handles::stream>();
}

// Synchronous resources ignore the stream when they allocate and wait for it before they free, as cuda.core's do.
void wait_for(const handles::shared<handles::stream>& on) {
  if (on) {
    on->synchronize();
  }
}

nb::object allocate_plain(nb::object self, std::size_t size, const std::optional<nb::object>&) {
  py_device& device = nb::cast<py_plain_resource&>(self).device;
  handles::shared<handles::buffer> made;
  {
    const without_gil unlocked;
    const handles::shared<handles::context> primary = device.handle.primary();
    made = handles::buffer::allocate(primary, size);
    device.handle.keep(primary);
  }
  return nb::cast(buffer_object(std::move(made), std::move(self)));
}

nb::object allocate_pinned(nb::object self, std::size_t size, const std::optional<nb::object>&) {
  handles::shared<handles::buffer> made;
  {
    const without_gil unlocked;
    made = handles::buffer::allocate_pinned({}, size);
  }
  return nb::cast(buffer_object(std::move(made), std::move(self)));
}

nb::object allocate_from_pool(nb::object self, std::size_t size, nb::handle stream) {
  py_pool_resource& resource = nb::cast<py_pool_resource&>(self);
  const handles::shared<handles::stream> on = *nb::cast<py_stream&>(stream).handle;
  handles::shared<handles::buffer> made;
  {
    const without_gil unlocked;
    const handles::shared<handles::context> primary = resource.device.handle.primary();
    made = handles::buffer::allocate_async(on->owned() ? on->owning_context() : primary, on, size, **resource.pool);
    resource.device.handle.keep(primary);
  }
  return nb::cast(buffer_object(std::move(made), std::move(self)));
}

template <handles::free_call how>
void deallocate_host_or_plain(nb::handle, CUdeviceptr address, std::size_t, std::optional<nb::object> stream) {
  const handles::shared<handles::stream> on = stream_of(std::move(stream));
  const without_gil unlocked;
  wait_for(on);
  handles::free_now(how, address, {}, nullptr);
}

void deallocate_to_pool(py_pool_resource& self, CUdeviceptr address, std::size_t, py_stream& stream) {
  const handles::shared<handles::stream> on = *stream.handle;
  const without_gil unlocked;
  const handles::shared<handles::context> primary = self.device.handle.primary();
  handles::free_now(handles::free_call::cuMemFreeAsync, address, on, primary->raw());
}

std::uint64_t pool_attribute(const py_pool_resource& self, CUmemPool_attribute which) {
  const without_gil unlocked;
  return (*self.pool)->attribute(which);
}

struct py_pool_attributes {
  nb::object resource;
  [[nodiscard]] std::uint64_t get(CUmemPool_attribute which) const {
    return pool_attribute(nb::cast<py_pool_resource&>(resource), which);
  }
};

nb::object from_handle(CUdeviceptr address, std::size_t size, nb::object resource, nb::object owner,
                       nb::object stream) {
  const handles::shared<handles::stream> on = stream_of(stream);
  handles::unique<python_memory> from(new python_memory(resource, std::move(owner), std::move(stream)));
  handles::view<python_memory> memory = from;
  py_buffer made = buffer_object(handles::buffer::adopt(std::move(from), on, address, size), std::move(resource));
  made.users = memory.get();
  return nb::cast(std::move(made));
}

void close_buffer(py_buffer& self, std::optional<nb::object> stream) {
  const handles::shared<handles::stream> on = stream_of(std::move(stream));
  if (self.handle.closed()) {
    return;
  }
  if (self.users != nullptr && self.handle->sole_owner()) {
    // Explicit, so what the resource raises is raised (P25).
    auto* users = static_cast<python_memory*>(self.users);
    const CUdeviceptr address = self.handle->give_up();
    const handles::shared<handles::buffer> until_done = *self.handle;
    self.handle.close();
    if (users->has_resource()) {
      users->deallocate_now(address, self.size);
    }
    return;
  }
  const without_gil unlocked;
  if (on) {
    self.handle->set_deallocation_stream(on);
  }
  self.handle.close();
}

void fill(py_buffer& self, unsigned char value, py_stream& stream) {
  const handles::shared<handles::buffer> what = *self.handle;
  const handles::shared<handles::stream> on = *stream.handle;
  const without_gil unlocked;
  what->fill(value, *on);
}

void copy(const py_buffer& from, const py_buffer& to, const py_stream& stream) {
  const handles::shared<handles::buffer> source = *from.handle;
  const handles::shared<handles::buffer> destination = *to.handle;
  const handles::shared<handles::stream> on = *stream.handle;
  if (source->size() != destination->size()) {
    throw std::invalid_argument("the buffers differ in size");
  }
  const without_gil unlocked;
  source->copy_to(*destination, *on);
}

void bind_buffer(nb::module_& module) {
  nb::class_<py_buffer>(module, "Buffer", nb::is_weak_referenceable())
      .def_static("from_handle", &from_handle, "ptr"_a, "size"_a, "mr"_a = nb::none(), "owner"_a = nb::none(),
                  nb::kw_only(), "stream"_a = nb::none(),
                  "Memory that `mr.deallocate(ptr, size, stream=stream)` takes back, or that `owner` owns.")
      .def_prop_ro("handle", [](const py_buffer& self) { return self.handle.closed() ? 0 : self.address; })
      .def_prop_ro("size", [](const py_buffer& self) { return self.handle.closed() ? 0 : self.size; })
      .def_prop_ro("is_closed", [](const py_buffer& self) { return self.handle.closed(); })
      .def_prop_ro("memory_resource", [](const py_buffer& self) { return self.resource; })
      .def_prop_ro("device_id", [](const py_buffer& self) { return self.resource.attr("device_id"); })
      .def("close", &close_buffer, "stream"_a = nb::none(),
           "Give this reference up, ordered on `stream` from now on if one is given; the last one frees the memory, "
           "and\n"
           "raises if that fails.")
      .def(
          "set_deallocation_stream",
          [](py_buffer& self, py_stream& stream) { self.handle->set_deallocation_stream(*stream.handle); }, "stream"_a)
      .def("fill", &fill, "value"_a, nb::kw_only(), "stream"_a)
      .def(
          "copy_to", [](py_buffer& self, py_buffer& dst, py_stream& stream) { copy(self, dst, stream); }, "dst"_a,
          nb::kw_only(), "stream"_a)
      .def(
          "copy_from", [](py_buffer& self, py_buffer& src, py_stream& stream) { copy(src, self, stream); }, "src"_a,
          nb::kw_only(), "stream"_a)
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](py_buffer& self, nb::args) { close_buffer(self, std::nullopt); });
}

}  // namespace

void bind_memory(nb::module_& module) {
  bind_buffer(module);

  nb::class_<py_memory_resource>(module, "MemoryResource", nb::is_weak_referenceable()).def(nb::init<>());

  nb::class_<py_plain_resource, py_memory_resource>(module, "SynchronousMemoryResource")
      .def(nb::init<nb::handle>(), "device_id"_a)
      .def_prop_ro("device_id", [](const py_plain_resource& self) { return self.device.handle.ordinal(); })
      .def("allocate", &allocate_plain, "size"_a, nb::kw_only(), "stream"_a = nb::none())
      .def("deallocate", &deallocate_host_or_plain<handles::free_call::cuMemFree>, "ptr"_a, "size"_a, nb::kw_only(),
           "stream"_a = nb::none());

  nb::class_<py_pinned_resource, py_memory_resource>(module, "LegacyPinnedMemoryResource")
      .def(nb::init<>())
      .def_prop_ro("device_id", [](const py_pinned_resource&) { return -1; })
      .def("allocate", &allocate_pinned, "size"_a, nb::kw_only(), "stream"_a = nb::none())
      .def("deallocate", &deallocate_host_or_plain<handles::free_call::cuMemFreeHost>, "ptr"_a, "size"_a, nb::kw_only(),
           "stream"_a = nb::none());

  nb::class_<py_pool_attributes>(module, "_MemPoolAttributes")
      .def_prop_ro("reserved_mem_current",
                   [](const py_pool_attributes& self) { return self.get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); })
      .def_prop_ro("reserved_mem_high",
                   [](const py_pool_attributes& self) { return self.get(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH); })
      .def_prop_ro("used_mem_current",
                   [](const py_pool_attributes& self) { return self.get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT); })
      .def_prop_ro("used_mem_high",
                   [](const py_pool_attributes& self) { return self.get(CU_MEMPOOL_ATTR_USED_MEM_HIGH); });

  nb::class_<py_pool_resource, py_memory_resource>(module, "DeviceMemoryResource")
      .def(nb::init<nb::handle, nb::handle>(), "device_id"_a, "options"_a = nb::none(),
           "A memory pool: the device's current one, which is not owned, or with `options` one of its own.")
      .def_prop_ro("device_id", [](const py_pool_resource& self) { return self.device.handle.ordinal(); })
      .def_prop_ro("handle",
                   [](const py_pool_resource& self) {
                     return self.pool->closed() ? 0 : handles::as_number((*self.pool)->raw());
                   })
      .def_prop_ro("is_handle_owned", [](const py_pool_resource& self) { return (*self.pool)->owned(); })
      .def_prop_ro("is_closed", [](const py_pool_resource& self) { return self.pool->closed(); })
      .def_prop_ro("attributes", [](nb::object self) { return py_pool_attributes{std::move(self)}; })
      .def("allocate", &allocate_from_pool, "size"_a, nb::kw_only(), "stream"_a)
      .def("deallocate", &deallocate_to_pool, "ptr"_a, "size"_a, nb::kw_only(), "stream"_a)
      .def(
          "close", [](py_pool_resource& self) { self.pool->close(); }, nb::call_guard<without_gil>(),
          "Give this reference up; the last one destroys the pool, and raises if that fails.");
}

}  // namespace cufault::reference

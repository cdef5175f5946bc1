// SPDX-License-Identifier: Apache-2.0
// The C++ objects behind the Python classes: owners of handles, with a state "closed".
#ifndef CUFAULT_REFERENCE_OBJECTS_H
#define CUFAULT_REFERENCE_OBJECTS_H

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

#include "cufault/handles/graph.h"
#include "gil.h"

namespace cufault::reference {

// One Python object's share of a handle. Dropping it runs the driver's destroy call without the interpreter's lock.
template <class Object>
class owner {
 public:
  owner(handles::shared<Object> object, const char* what) noexcept : object_(std::move(object)), what_(what) {}
  owner(owner&&) noexcept = default;
  owner& operator=(owner&&) noexcept = default;
  ~owner() {
    if (object_) {
      const without_gil unlocked;
      object_.reset();
    }
  }

  // Throws where the object was closed.
  [[nodiscard]] const handles::shared<Object>& get() const {
    if (!object_) {
      throw std::runtime_error(std::string("this ") + what_ + " is closed");
    }
    return object_;
  }
  const handles::shared<Object>& operator*() const { return get(); }
  Object* operator->() const { return get().get(); }
  [[nodiscard]] bool closed() const noexcept { return !object_; }
  // Gives the share up; a failure of the destroy call is thrown (P25). Nothing to do the second time.
  void close() { object_.close(); }

 private:
  handles::shared<Object> object_;
  const char* what_;
};

// A Python object that something keeps alive. Goes from clean-up, with the interpreter's lock taken for it; in an
// interpreter that ends it is leaked (P22).
class python_owner final : public handles::resource {
 public:
  // The lock must be held.
  explicit python_owner(nanobind::handle object) noexcept : object_(object.inc_ref().ptr()) {}

 private:
  ~python_owner() override = default;
  void destroy(handles::cleanup&) noexcept override {
    if (interpreter_usable()) {
      const with_gil locked;
      const exception_kept pending;
      Py_DECREF(object_);
    }
  }

  PyObject* object_;
};

struct py_context {
  owner<handles::context> handle;
};

struct py_device {
  explicit py_device(int ordinal) : handle(ordinal) {}
  handles::device handle;
};

struct py_stream {
  owner<handles::stream> handle;
};

struct py_event {
  owner<handles::event> handle;
};

struct py_buffer {
  owner<handles::buffer> handle;
  nanobind::object resource;  // the memory resource it came from
  CUdeviceptr address;        // stays readable once closed
  std::size_t size;
  handles::user_memory* users;  // what takes it back, if that is Python; lives as long as the handle
};

// The one object of a device; lives as long as the process.
[[nodiscard]] py_device& device_of(int ordinal);
// A device given as Device or as ordinal.
[[nodiscard]] py_device& device_of(nanobind::handle given);
// A new Context for what is current, or for what the caller keeps alive; None for no context.
[[nodiscard]] nanobind::object context_object(CUcontext raw);

void bind_device(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_memory(nanobind::module_& module);
void bind_graph(nanobind::module_& module);

// Options as cuda.core takes them: an options object, a mapping (whose keys must all be known), or None.
class options {
 public:
  options(nanobind::handle given, std::initializer_list<const char*> known);

  template <class Value>
  [[nodiscard]] Value get(const char* name, Value otherwise) const {
    const nanobind::object found = find(name);
    return found.is_none() ? otherwise : nanobind::cast<Value>(found);
  }

 private:
  [[nodiscard]] nanobind::object find(const char* name) const;
  nanobind::handle given_;
};

}  // namespace cufault::reference

#endif

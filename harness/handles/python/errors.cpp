// SPDX-License-Identifier: Apache-2.0
// CUDAError, CUDAWarning, and what carries the layer's failures into them.
#include "errors.h"

#include <atomic>

#include "cufault/handles/deferred.h"
#include "cufault/handles/report.h"
#include "cufault/handles/scope.h"
#include "gil.h"

namespace nb = nanobind;

namespace cufault::reference {
namespace {

// Never released: reports may come until the very end.
PyObject* error_class = nullptr;
PyObject* warning_class = nullptr;

constexpr const char* error_doc =
    "A CUDA driver call failed.\n\n"
    "code: the CUresult as an integer. name, description: the driver's spelling of it. call: the driver function that\n"
    "failed. explanation: what followed from it, or an empty string. Failures that came after it, while it was on its\n"
    "way, are its notes.";
constexpr const char* warning_doc =
    "A CUDA driver call failed where no exception could be raised: in garbage collection, in deferred clean-up, in a\n"
    "callback, or in clean-up after an earlier failure.";

void set_attribute(const nb::object& error, const char* name, const nb::object& value) { error.attr(name) = value; }

void add_note(const nb::object& error, const std::string& note) {
#if PY_VERSION_HEX >= 0x030B0000
  error.attr("add_note")(note.c_str());
#else
  if (!nb::hasattr(error, "__notes__")) {
    error.attr("__notes__") = nb::list();
  }
  error.attr("__notes__").attr("append")(note.c_str());
#endif
}

void translate(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const handles::cuda_error& failed) {
    nb::object error = nb::handle(error_class)(nb::str(failed.what()));
    set_attribute(error, "code", nb::int_(static_cast<int>(failed.code())));
    set_attribute(error, "name", nb::str(failed.name().c_str()));
    set_attribute(error, "description", nb::str(failed.description().c_str()));
    set_attribute(error, "call", nb::str(failed.call()));
    set_attribute(error, "explanation", nb::str(failed.explanation().c_str()));
    for (const std::string& note : failed.notes()) {
      add_note(error, note);
    }
    PyErr_SetObject(error_class, error.ptr());
  }
}

class warning_sink final : public handles::report_sink {
 public:
  void deliver(const handles::report& what) noexcept override {
    if (!interpreter_usable()) {
      handles::report_to_stderr(what);
      return;
    }
    const with_gil locked;
    warn(handles::report_text(what).text);
  }
};

std::atomic<bool> drain_requested{false};

int drain(void*) {
  drain_requested.store(false);
  const without_gil unlocked;
  handles::drain_deferred();
  return 0;
}

// On the driver's callback thread: Py_AddPendingCall takes no lock that is held while Python code runs (P23). If its
// queue is full, the next safe point drains instead.
void request_drain() noexcept {
  if (interpreter_usable() && !drain_requested.exchange(true) && Py_AddPendingCall(&drain, nullptr) != 0) {
    drain_requested.store(false);
  }
}

}  // namespace

void warn(const char* text) noexcept {
  const exception_kept pending;
  if (PyErr_WarnEx(warning_class, text, 1) != 0) {
    // Escalated to an error by a filter: nothing can be raised here.
    PyObject* where = PyUnicode_FromString("the clean-up of a CUDA object");
    PyErr_WriteUnraisable(where);
    Py_XDECREF(where);
  }
}

void bind_errors(nb::module_& module) {
  error_class = PyErr_NewExceptionWithDoc("cufault.reference.CUDAError", error_doc, nullptr, nullptr);
  warning_class =
      PyErr_NewExceptionWithDoc("cufault.reference.CUDAWarning", warning_doc, PyExc_RuntimeWarning, nullptr);
  if (error_class == nullptr || warning_class == nullptr) {
    throw nb::python_error();
  }
  module.attr("CUDAError") = nb::handle(error_class);
  module.attr("CUDAWarning") = nb::handle(warning_class);
  nb::register_exception_translator(translate);

  static warning_sink sink;
  handles::exchange_report_sink(&sink);
  handles::exchange_deferred_hook(&request_drain);

  module.def(
      "_set_context_restore_fault_for_testing",
      [](int status) { handles::set_context_restore_fault_for_testing(static_cast<CUresult>(status)); },
      nb::arg("status"),
      "Make the next context restoration on the calling thread answer `status` (a CUresult) without being made; 0 "
      "takes "
      "the order back.");
}

}  // namespace cufault::reference

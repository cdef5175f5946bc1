// SPDX-License-Identifier: Apache-2.0
// The judge for Python: module cufault._judge, whose types are in _judge.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>

#include "error.h"
#include "plan.h"
#include "policy_json.h"
#include "timeline.h"
#include "verdict.h"

namespace nb = nanobind;

namespace {

// Where the exception types live as long as the module.
PyObject* request_error_type = nullptr;
PyObject* file_error_type = nullptr;

void translate(const std::exception_ptr& raised, void*) {
  namespace judge = cufault::judge;
  try {
    std::rethrow_exception(raised);
  } catch (const judge::request_error& problem) {
    nb::object instance = nb::borrow(request_error_type)(problem.what());
    instance.attr("path") = problem.path();
    instance.attr("value") = problem.value();
    instance.attr("nearest") = problem.nearest();
    PyErr_SetObject(request_error_type, instance.ptr());
  } catch (const judge::file_error& problem) {
    PyErr_SetString(file_error_type, problem.what());
  }
}

}  // namespace

NB_MODULE(_judge, module) {
  namespace judge = cufault::judge;
  module.doc() = "Plan writer, trace reader and judge.";

  request_error_type = PyErr_NewExceptionWithDoc(
      "cufault._judge.RequestError", "A request says what cannot be meant; path, value and nearest say where.",
      PyExc_ValueError, nullptr);
  file_error_type = PyErr_NewExceptionWithDoc("cufault._judge.FileError", "A file of a run cannot be read or written.",
                                              PyExc_OSError, nullptr);
  module.attr("RequestError") = nb::borrow(request_error_type);
  module.attr("FileError") = nb::borrow(file_error_type);
  nb::register_exception_translator(translate);

  module.def(
      "write_plan", [](const std::string& path, const std::string& request) { judge::write_plan(path, request); },
      nb::arg("path"), nb::arg("request"), "Write the plan that the request (JSON) describes.");
  module.def(
      "read_plan", [](const std::string& path) { return judge::plan_as_json(judge::read_plan(path)); }, nb::arg("path"),
      "A plan file as JSON, with every rule's entry points.");
  module.def(
      "judge", [](const std::string& request) { return judge::judge(request); }, nb::arg("request"),
      "The verdict on a run.");
  module.def(
      "read_trace", [](const std::string& folder) { return judge::trace_as_json(folder); }, nb::arg("run_folder"),
      "Every record of a run's trace.");
  module.def(
      "clean_run_points", [](const std::string& folder) { return judge::clean_run_points(folder); },
      nb::arg("run_folder"), "Every call of a run as a point where a fault may be put.");
  module.def(
      "policy", [] { return judge::policy_as_json(); }, "Rules, profiles and vocabulary.");
}

// SPDX-License-Identifier: Apache-2.0
// A Python extension module in C++: loaded with RTLD_LOCAL, it brings libstdc++ in a scope of its own.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <new>
#include <vector>

namespace {

PyObject* grow(PyObject*, PyObject* wanted) {
  const long count = PyLong_AsLong(wanted);
  try {
    std::vector<long> numbers;
    for (long i = 0; i < count; ++i) numbers.push_back(i);
    return PyLong_FromSize_t(numbers.size());
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyMethodDef methods[] = {{"grow", grow, METH_O, "Elements pushed into a std::vector."}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "victim_extension", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_victim_extension(void) { return PyModule_Create(&definition); }

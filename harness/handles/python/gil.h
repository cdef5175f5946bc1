// SPDX-License-Identifier: Apache-2.0
// Giving the interpreter's lock away and taking it back, also where the interpreter may be ending.
#ifndef CUFAULT_REFERENCE_GIL_H
#define CUFAULT_REFERENCE_GIL_H

#include <Python.h>
#include <unistd.h>

namespace cufault::reference {

[[nodiscard]] inline bool finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Whether Python code may run at all, on whatever thread.
[[nodiscard]] inline bool interpreter_usable() noexcept { return Py_IsInitialized() != 0 && !finalizing(); }

// Releases the lock for a scope, if this thread holds it: no lock is held across a driver call that may wait (P27).
class without_gil {
 public:
  without_gil() noexcept : state_(interpreter_usable() && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  ~without_gil() {
    if (state_ == nullptr) {
      return;
    }
    // Taking the lock of an interpreter that has begun to end makes CPython (before 3.14) unwind this thread, through
    // destructors that do not allow it. Later versions let it wait for the end of the process; so do we.
    while (finalizing()) {
      pause();
    }
    PyEval_RestoreThread(state_);
  }
  without_gil(const without_gil&) = delete;
  without_gil& operator=(const without_gil&) = delete;

 private:
  PyThreadState* state_;
};

// Takes the lock for a scope. Only while interpreter_usable().
class with_gil {
 public:
  with_gil() noexcept : state_(PyGILState_Ensure()) {}
  ~with_gil() { PyGILState_Release(state_); }
  with_gil(const with_gil&) = delete;
  with_gil& operator=(const with_gil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Sets a pending exception aside for a scope: destructors run while one is on its way (P14).
class exception_kept {
 public:
  exception_kept() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~exception_kept() { PyErr_Restore(type_, value_, traceback_); }
  exception_kept(const exception_kept&) = delete;
  exception_kept& operator=(const exception_kept&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace cufault::reference

#endif

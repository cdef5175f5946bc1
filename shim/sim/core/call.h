// SPDX-License-Identifier: Apache-2.0
// The frame around every entry point: which process states refuse it, the lock, and the answer.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "core/api.h"
#include "core/driver.h"
#include "core/handles.h"
#include "core/refusal.h"
#include "core/report.h"
#include "core/thread.h"

namespace cufault::sim {

struct Context;

// In which states a call still does its work (recorded in the cases before_init, sticky_*, launch_callback_*).
struct Policy {
  bool needs_init = true;
  bool reports_fault = false;      // answers the code of an earlier kernel fault
  Callback inside = Callback::none;  // the worst kind of callback in which it still works
};

inline constexpr Policy kPlain{};
inline constexpr Policy kFaults{.reports_fault = true};
inline constexpr Policy kAnywhere{.needs_init = false, .inside = Callback::host_function};
// Checks an argument first and whether the driver was initialised afterwards: see require_initialised().
inline constexpr Policy kArgumentsFirst{.needs_init = false};

class Call {
 public:
  Call(const char* entry_point, Policy policy);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() = default;

  // For what checks an argument before it checks whether the driver was initialised.
  void require_initialised() const { require(driver.phase() == Phase::initialised, CUDA_ERROR_NOT_INITIALIZED); }
  void require_no_fault() const { require(driver.fault() == CUDA_SUCCESS, driver.fault()); }

  // The calling thread's context: INVALID_CONTEXT without one, CONTEXT_IS_DESTROYED if it is gone.
  [[nodiscard]] const std::shared_ptr<Context>& current() const;
  [[nodiscard]] std::shared_ptr<Context> current_or_null() const noexcept;

  // The live object of a handle. Null, unknown and destroyed handles refuse with `otherwise`; the last two are misuse.
  template <class T>
  [[nodiscard]] std::shared_ptr<T> use(const void* handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    check(handle, T::kKind, otherwise, CUFAULT_MISUSE_USE_AFTER_DESTROY);
    return std::static_pointer_cast<T>(driver.handles->share(handle));
  }
  // The same for a call that is about to destroy the object, if nothing else forbids it.
  template <class T>
  [[nodiscard]] std::shared_ptr<T> doomed(const void* handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    check(handle, T::kKind, otherwise, CUFAULT_MISUSE_DOUBLE_DESTROY);
    return std::static_pointer_cast<T>(driver.handles->share(handle));
  }
  // The same, and the handle is dead afterwards.
  template <class T>
  std::shared_ptr<T> destroy(const void* handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    check(handle, T::kKind, otherwise, CUFAULT_MISUSE_DOUBLE_DESTROY);
    return std::static_pointer_cast<T>(driver.handles->remove(handle));
  }

  void misuse(cufault_misuse kind, const void* handle, const std::string& text) const {
    report_misuse(kind, symbol, handle, text);
  }
  [[noreturn]] void unmodelled(const char* what) const {
    report_unmodelled(symbol, what);
    refuse(CUDA_ERROR_NOT_SUPPORTED);
  }

  // Gives up the lock until work elsewhere makes the condition true. Refuses with a kernel's fault, if one happens.
  template <class Condition>
  void wait(Condition&& condition) {
    driver.changed.wait(lock_, std::forward<Condition>(condition));
  }

  // The same for what another process does: looks again and again.
  template <class Condition>
  void wait_for_others(Condition&& condition) {
    while (!condition()) driver.changed.wait_for(lock_, std::chrono::microseconds(200));
  }

  Driver& driver;
  Thread& thread;
  const char* const symbol;

 private:
  void check(const void* handle, Kind kind, CUresult otherwise, cufault_misuse if_destroyed) const;

  std::unique_lock<std::mutex> lock_;
};

// Runs the body of an entry point under the lock. The body returns nothing (success) or a CUresult, or refuses.
template <class Body>
CUresult answer(const char* symbol, Policy policy, Body&& body) noexcept {
  try {
    Call call(symbol, policy);
    if constexpr (std::is_void_v<std::invoke_result_t<Body, Call&>>) {
      body(call);
      return CUDA_SUCCESS;
    } else {
      return body(call);
    }
  } catch (const Refusal& refusal) {
    return refusal.code;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

// An entry point: its body under the driver's lock, then what the body left for the application to do on this thread.
template <class Body>
CUresult api(const char* symbol, Policy policy, Body&& body) noexcept {
  const CUresult result = answer(symbol, policy, std::forward<Body>(body));
  if (Thread& thread = this_thread(); !thread.owed.empty()) [[unlikely]]
    pay(thread);
  return result;
}

}  // namespace cufault::sim

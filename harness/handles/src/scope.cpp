// SPDX-License-Identifier: Apache-2.0
// Switches contexts for the length of an operation, and says what follows when putting the caller's one back fails.
#include "cufault/handles/scope.h"

#include <string>
#include <utility>

#include "cufault/handles/deferred.h"

namespace cufault::handles {
namespace {

thread_local CUresult restore_fault = CUDA_SUCCESS;

constexpr const char* caller_context_lost = "the caller's context could not be restored";
constexpr const char* caller_context_lost_after_cleanup =
    "the context of the clean-up stays current, the caller's context could not be restored";

// Adds to a failed switch which context is current after it.
report with_current_context(const failure& failed, const char* consequence) noexcept {
  CUcontext current = nullptr;
  const bool known = loaded_driver()->cuCtxGetCurrent(&current) == CUDA_SUCCESS;
  return report{failed, consequence, known ? restoration::current_known : restoration::current_unknown, current};
}

std::string which_is_current(const report& lost) {
  if (lost.restoring == restoration::current_unknown) {
    return "which context is current now is unknown";
  }
  return lost.current == nullptr ? std::string("no context is current now")
                                 : "context " + handle_text(as_number(lost.current)) + " is current now";
}

cuda_error restoration_error(const report& lost, const char* what_became_of_the_operation) {
  return cuda_error(lost.what, std::string(caller_context_lost) + " (" + handle_text(lost.what.handle) + "); " +
                                   what_became_of_the_operation + "; " + which_is_current(lost) +
                                   "; call Device.set_current() to choose one");
}

// One switch to another context and back. Makes no call where the target is null or current already.
class context_switch {
 public:
  explicit context_switch(CUcontext target) noexcept {
    if (target == nullptr) {
      return;
    }
    const driver_table& table = *loaded_driver();
    entering_ = attempt(table.cuCtxGetCurrent, as_number(target), &previous_);
    if (entering_ || previous_ == target) {
      return;
    }
    entering_ = attempt(table.cuCtxSetCurrent, as_number(target), target);
    if (!entering_) {
      switched_ = true;
      return;
    }
    // A driver may switch and answer an error all the same: then the caller's context has to be put back.
    CUcontext current = previous_;
    if (table.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != previous_) {
      lost_ = restore(caller_context_lost);
    }
  }

  // The call that failed to enter, if one did.
  [[nodiscard]] const failure& entering() const noexcept { return entering_; }
  // After a failed entering: what putting the caller's context back met, if that was necessary and failed.
  [[nodiscard]] const report& lost() const noexcept { return lost_; }

  // Puts the caller's context back, once.
  [[nodiscard]] report leave(const char* consequence) noexcept {
    return std::exchange(switched_, false) ? restore(consequence) : nothing_lost;
  }

  static constexpr report nothing_lost{no_failure, "", restoration::no, nullptr};

 private:
  [[nodiscard]] report restore(const char* consequence) const noexcept {
    const driver_table& table = *loaded_driver();
    const CUresult ordered = std::exchange(restore_fault, CUDA_SUCCESS);
    const failure failed = ordered == CUDA_SUCCESS
                               ? attempt(table.cuCtxSetCurrent, as_number(previous_), previous_)
                               : failure{ordered, false, table.cuCtxSetCurrent.name, as_number(previous_)};
    return failed ? with_current_context(failed, consequence) : nothing_lost;
  }

  CUcontext previous_ = nullptr;
  bool switched_ = false;
  failure entering_ = no_failure;
  report lost_ = nothing_lost;
};

void enter_or_throw(const context_switch& scope) {
  if (!scope.entering()) {
    return;
  }
  cuda_error error(scope.entering());
  cleanup after;
  after.note(scope.lost());
  after.attach_to(error);
  throw error;
}

// Runs the operation in an entered scope. An error of its own leaves from here, with the caller's context put back;
// returns what only the restoration met.
report run_and_leave(context_switch& scope, function_ref<void()> operation) {
  try {
    operation();
  } catch (cuda_error& error) {
    cleanup after;
    after.note(scope.leave(caller_context_lost));
    after.attach_to(error);
    throw;
  } catch (...) {
    report_failure(scope.leave(caller_context_lost));
    throw;
  }
  return scope.leave(caller_context_lost);
}

}  // namespace

void run_in_context(CUcontext target, function_ref<void()> operation) {
  static_cast<void>(driver());
  drain_deferred();
  const report_scope reports;
  context_switch scope(target);
  enter_or_throw(scope);
  if (const report lost = run_and_leave(scope, operation); lost.what) {
    throw restoration_error(lost, "the operation itself succeeded and stays done");
  }
}

void run_or_undo_in_context(CUcontext target, function_ref<void()> operation, function_ref<void(cleanup&)> undo,
                            undo_needs needs, const char* leaked) {
  static_cast<void>(driver());
  drain_deferred();
  const report_scope reports;
  context_switch scope(target);
  enter_or_throw(scope);
  const report lost = run_and_leave(scope, operation);
  if (!lost.what) {
    return;
  }
  cleanup undoing;
  const bool in_target = lost.restoring == restoration::current_known && lost.current == target;
  if (needs == undo_needs::nothing || in_target) {
    undo(undoing);
  } else {
    undoing.note(report{lost.what, leaked, lost.restoring, lost.current});
  }
  cuda_error error = restoration_error(lost, undoing.clean() ? "what had been created is destroyed again"
                                                             : "what had been created could not be destroyed again");
  undoing.attach_to(error);
  throw error;
}

bool cleanup_in_context(CUcontext target, cleanup& failures, const char* skipped,
                        function_ref<void()> operation) noexcept {
  context_switch scope(target);
  if (scope.entering()) {
    failures.note(report{scope.entering(), skipped, restoration::no, nullptr});
    failures.note(scope.lost());
    return false;
  }
  operation();
  failures.note(scope.leave(caller_context_lost_after_cleanup));
  return true;
}

CUdevice context_get_device(CUcontext context) {
  CUdevice device = 0;
  run_in_context(context, [&] { call(driver().cuCtxGetDevice, &device); });
  return device;
}

void graph_node_set_params(CUgraphNode node, CUgraphNodeParams& params, CUcontext target,
                           function_ref<void()> publish) {
  run_in_context(target, [&] {
    call(driver().cuGraphNodeSetParams, node, &params);
    publish();
  });
}

CUcontext get_current() {
  CUcontext current = nullptr;
  call(driver().cuCtxGetCurrent, &current);
  return current;
}

CUcontext set_current(CUcontext target) {
  drain_deferred();
  const CUcontext previous = get_current();
  if (const failure failed = attempt(driver().cuCtxSetCurrent, as_number(target), target)) {
    throw cuda_error(failed, "context " + handle_text(as_number(target)) + " could not be made current; " +
                                 which_is_current(with_current_context(failed, "")));
  }
  return previous;
}

CUcontext create_context_unpushed(unsigned flags, CUdevice device) {
  const driver_table& table = driver();
  drain_deferred();
  const report_scope reports;
  const CUcontext previous = get_current();
  CUcontext created = nullptr;
  CUcontext popped = nullptr;
  const failure creating = attempt(table.cuCtxCreate, 0, &created, nullptr, flags, device);
  if (creating) {
    cuda_error error(creating);
    // A driver may push and answer an error all the same.
    CUcontext current = previous;
    if (table.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != previous) {
      if (const failure popping = attempt(table.cuCtxPopCurrent, as_number(current), &popped)) {
        cleanup after;
        after.note(with_current_context(popping, caller_context_lost));
        after.attach_to(error);
      }
    }
    throw error;
  }
  if (const failure popping = attempt(table.cuCtxPopCurrent, as_number(previous), &popped)) {
    cleanup undoing;
    // Destroying a context that is current makes the one below it current: the caller's.
    undoing.call("the context is leaked", table.cuCtxDestroy, as_number(created), created);
    cuda_error error = restoration_error(
        with_current_context(popping, caller_context_lost),
        undoing.clean() ? "the new context is destroyed again" : "the new context could not be destroyed again");
    undoing.attach_to(error);
    throw error;
  }
  return created;
}

void set_context_restore_fault_for_testing(CUresult status) noexcept { restore_fault = status; }

}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// The scoped-context helpers: the only code of the layer that changes a thread's current context.
#ifndef CUFAULT_HANDLES_SCOPE_H
#define CUFAULT_HANDLES_SCOPE_H

#include "cufault/handles/function_ref.h"
#include "cufault/handles/resource.h"

namespace cufault::handles {

// All of them find out which context is current, make `target` current unless it is, do the work, and put the caller's
// context back with one cuCtxSetCurrent, which is never retried (P05, P06, P20). `target` null means: leave the context
// alone. Reports wait until the caller's context is back (P19).

// Runs `operation`, which throws what fails. Its error wins over a failed restoration, which is then reported and noted
// (P10). If only the restoration fails, that is thrown; what `operation` did stays done.
void run_in_context(CUcontext target, function_ref<void()> operation);

// Where the undo of a creation has to run.
enum class undo_needs { nothing, target_context };

// The same for an operation that creates something: if only the restoration fails, `undo` takes it back, once, and the
// restoration's error is thrown; it says which context is current now (P09). What fails in the undo is reported and
// noted (P11). With undo_needs::target_context the undo runs only if `target` is verified to be current; otherwise the
// object is leaked, and `leaked` says so.
void run_or_undo_in_context(CUcontext target, function_ref<void()> operation, function_ref<void(cleanup&)> undo,
                            undo_needs needs = undo_needs::nothing, const char* leaked = "");

// Clean-up: runs `operation`, which notes its failures in `failures` and does not throw. A context that cannot be
// entered means that it does not run: `skipped` says what is leaked. Returns whether it ran.
bool cleanup_in_context(CUcontext target, cleanup& failures, const char* skipped,
                        function_ref<void()> operation) noexcept;

// The device of a context.
[[nodiscard]] CUdevice context_get_device(CUcontext context);

// Sets a graph node's parameters with `target` current. `publish` runs as soon as the driver has taken them, before the
// restoration can fail: what keeps the new parameters alive is committed first (P18).
void graph_node_set_params(CUgraphNode node, CUgraphNodeParams& params, CUcontext target, function_ref<void()> publish);

// Makes `target` (or no context, if null) current for good, with one cuCtxSetCurrent, and returns what was current
// before. If it fails, the driver has left the previous context current (P24).
CUcontext set_current(CUcontext target);

[[nodiscard]] CUcontext get_current();

// Makes a plain context and undoes the push that cuCtxCreate does, the one pop in the layer. If that fails, the context
// is destroyed and the failure thrown.
[[nodiscard]] CUcontext create_context_unpushed(unsigned flags, CUdevice device);

// Makes the next restoration on the calling thread answer `status` without being made, which leaves the target context
// current, as a failing driver would. CUDA_SUCCESS takes the order back. Source: the change list of the policy
// document.
void set_context_restore_fault_for_testing(CUresult status) noexcept;

template <class Function, class... Args>
bool cleanup::call_in_context(CUcontext target, const char* consequence, const char* skipped, const Function& function,
                              std::uint64_t handle, Args... args) noexcept {
  bool succeeded = false;
  cleanup_in_context(target, *this, skipped, [&] { succeeded = call(consequence, function, handle, args...); });
  return succeeded;
}

}  // namespace cufault::handles

#endif

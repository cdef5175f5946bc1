// SPDX-License-Identifier: Apache-2.0
// Process states that refuse a call, and the checks of handles.
#include "core/call.h"

#include "context/context.h"

namespace cufault::sim {

Call::Call(const char* entry_point, Policy policy)
    : driver(Driver::get()), thread(this_thread()), symbol(entry_point) {
  // Order as recorded: a process that shuts down, then a forked child, then callbacks, then initialisation.
  require(driver.phase() != Phase::torn_down, CUDA_ERROR_DEINITIALIZED);
  require(!driver.forked(), CUDA_ERROR_NOT_INITIALIZED);
  if (thread.callback != Callback::none) [[unlikely]]
    require(thread.callback <= policy.inside, CUDA_ERROR_NOT_PERMITTED);
  if (policy.needs_init) require_initialised();
  lock_ = std::unique_lock(driver.mutex);
  if (policy.reports_fault) require_no_fault();
}

const std::shared_ptr<Context>& Call::current() const {
  require(!thread.stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
  require(thread.stack.back()->alive(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return thread.stack.back();
}

std::shared_ptr<Context> Call::current_or_null() const noexcept {
  return thread.stack.empty() ? nullptr : thread.stack.back();
}

void Call::check(const void* handle, Kind kind, CUresult otherwise, cufault_misuse if_destroyed) const {
  require(handle != nullptr, otherwise);
  const Found found = driver.handles->find(handle);
  if (found.state == HandleState::live && found.kind == kind) [[likely]] return;
  const std::string wanted = name_of(kind);
  if (found.state == HandleState::destroyed && found.kind == kind)
    misuse(if_destroyed, handle, "this " + wanted + " was destroyed before");
  else if (found.state == HandleState::unknown)
    misuse(CUFAULT_MISUSE_GARBAGE_HANDLE, handle, "never was a handle; a " + wanted + " is expected");
  else
    misuse(CUFAULT_MISUSE_GARBAGE_HANDLE, handle, std::string("a ") + name_of(found.kind) + ", not a " + wanted);
  refuse(otherwise);
}

}  // namespace cufault::sim

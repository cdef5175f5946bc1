// SPDX-License-Identifier: Apache-2.0
// Contexts and devices.
#include "cufault/handles/context.h"

#include "cufault/handles/deferred.h"
#include "cufault/handles/scope.h"

namespace cufault::handles {

unique<context> context::retain_primary(CUdevice device) {
  drain_deferred();
  unique<context> made(new context(context_kind::primary, device));
  CUcontext raw = nullptr;
  call(driver().cuDevicePrimaryCtxRetain, &raw, device);
  made->raw_ = raw;
  return made;
}

unique<context> context::create(CUdevice device, unsigned flags) {
  unique<context> made(new context(context_kind::plain, device));
  made->raw_ = create_context_unpushed(flags, device);
  return made;
}

unique<context> context::create_green(CUdevice device, unsigned multiprocessors) {
  drain_deferred();
  const driver_table& table = driver();
  unique<context> made(new context(context_kind::green, device));
  CUdevResource all{};
  CUdevResource part{};
  CUdevResource rest{};
  CUdevResourceDesc description = nullptr;
  unsigned groups = 1;
  call(table.cuDeviceGetDevResource, device, &all, CU_DEV_RESOURCE_TYPE_SM);
  call(table.cuDevSmResourceSplitByCount, &part, &groups, &all, &rest, 0U, multiprocessors);
  call(table.cuDevResourceGenerateDesc, &description, &part, 1U);
  CUgreenCtx green = nullptr;
  call(table.cuGreenCtxCreate, &green, description, device, static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
  made->green_ = green;
  CUcontext raw = nullptr;
  if (const failure lost = attempt(table.cuCtxFromGreenCtx, as_number(green), &raw, green)) {
    cuda_error error(lost);
    cleanup undoing;
    made->destroy(undoing);
    undoing.attach_to(error);
    throw error;
  }
  made->raw_ = raw;
  return made;
}

unique<context> context::foreign(CUcontext raw, CUdevice device) {
  unique<context> made(new context(context_kind::foreign, device));
  made->raw_ = raw;
  return made;
}

void context::destroy(cleanup& failures) noexcept {
  const CUcontext raw = std::exchange(raw_, nullptr);
  const CUgreenCtx green = std::exchange(green_, nullptr);
  if (raw == nullptr && green == nullptr) {
    return;
  }
  const driver_table& table = *loaded_driver();
  switch (kind_) {
    case context_kind::primary:
      failures.call("a reference to the primary context is leaked", table.cuDevicePrimaryCtxRelease, as_number(raw),
                    device_);
      break;
    case context_kind::plain:
      failures.call("the context is leaked", table.cuCtxDestroy, as_number(raw), raw);
      break;
    case context_kind::green:
      failures.call("the green context is leaked", table.cuGreenCtxDestroy, as_number(green), green);
      break;
    case context_kind::foreign:
      break;
  }
}

device::device(int ordinal) : ordinal_(ordinal) {
  call(driver().cuInit, 0U);
  call(driver().cuDeviceGet, &raw_, ordinal);
}

int device::count() {
  int number = 0;
  call(driver().cuInit, 0U);
  call(driver().cuDeviceGetCount, &number);
  return number;
}

shared<context> device::primary() const {
  {
    const std::lock_guard lock(mutex_);
    if (primary_) {
      return primary_;
    }
  }
  return context::retain_primary(raw_);
}

void device::keep(const shared<context>& primary) noexcept {
  const std::lock_guard lock(mutex_);
  if (!primary_) {
    primary_ = primary;
  }
}

void device::forget() noexcept {
  shared<context> going;
  const std::lock_guard lock(mutex_);
  std::swap(going, primary_);
}

}  // namespace cufault::handles

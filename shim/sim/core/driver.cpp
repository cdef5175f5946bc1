// SPDX-License-Identifier: Apache-2.0
// Start, shutdown and fork of the simulated driver.
#include "core/driver.h"

#include <pthread.h>

#include <cstdlib>

#include "context/context.h"
#include "core/refusal.h"
#include "device/device.h"

namespace cufault::sim {

Driver::Driver() : handles(new HandleTable), engine(*this) {}

Driver& Driver::get() noexcept {
  static Driver& only = *new Driver;
  return only;
}

void Driver::initialise() {
  if (phase() != Phase::fresh) return;
  const unsigned count = configuration_.device_count;
  for (unsigned i = 0; i < count; ++i) devices_.push_back(std::make_unique<Device>(static_cast<CUdevice>(i)));
  pthread_atfork(nullptr, nullptr, [] { get().forked_.store(true, std::memory_order_relaxed); });
  // Handlers registered before cuInit run after this one and find the driver gone; later ones still find it there.
  std::atexit([] { get().phase_.store(Phase::torn_down, std::memory_order_release); });
  phase_.store(Phase::initialised, std::memory_order_release);
}

Device& Driver::device(CUdevice ordinal) {
  require(ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices_.size(), CUDA_ERROR_INVALID_DEVICE);
  return *devices_[static_cast<std::size_t>(ordinal)];
}

void Driver::set_fault(CUresult code) noexcept {
  CUresult none = CUDA_SUCCESS;
  fault_.compare_exchange_strong(none, code);
}

}  // namespace cufault::sim

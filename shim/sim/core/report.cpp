// SPDX-License-Identifier: Apache-2.0
// The host's table, and cufault_sim_attach which sets it.
#include "core/report.h"

#include <atomic>
#include <cstdint>

#include "core/driver.h"

namespace cufault::sim {

namespace {
cufault_sim_host table;
std::atomic<const cufault_sim_host*> attached{nullptr};
}  // namespace

const cufault_sim_host* host() noexcept { return attached.load(std::memory_order_acquire); }

void report_unmodelled(const char* symbol, const char* what) noexcept {
  const cufault_sim_host* to = host();
  if (to != nullptr && to->unmodelled != nullptr) to->unmodelled(symbol, what);
}

void report_misuse(cufault_misuse kind, const char* symbol, const void* handle, const std::string& text) noexcept {
  const cufault_sim_host* to = host();
  if (to != nullptr && to->misuse != nullptr)
    to->misuse(kind, symbol, reinterpret_cast<std::uintptr_t>(handle), text.c_str());
}

CallbackBracket::CallbackBracket() noexcept {
  const cufault_sim_host* to = host();
  if (to != nullptr && to->callback_enter != nullptr) to->callback_enter();
}

CallbackBracket::~CallbackBracket() {
  const cufault_sim_host* to = host();
  if (to != nullptr && to->callback_leave != nullptr) to->callback_leave();
}

}  // namespace cufault::sim

extern "C" __attribute__((visibility("default"))) uint32_t cufault_sim_attach(const cufault_sim_host* host) {
  if (host == nullptr || host->version != CUFAULT_SIM_HOST_VERSION) return CUFAULT_SIM_HOST_VERSION;
  cufault::sim::table = *host;
  cufault::sim::Configuration wanted;
  if (host->device_count != 0) wanted.device_count = host->device_count;
  if (host->driver_version != 0) wanted.driver_version = static_cast<int>(host->driver_version);
  wanted.seed = host->seed;
  if (host->profile != nullptr) wanted.profile = host->profile;
  cufault::sim::Driver::get().configure(wanted);
  cufault::sim::attached.store(&cufault::sim::table, std::memory_order_release);
  return 0;
}

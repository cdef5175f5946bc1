// SPDX-License-Identifier: Apache-2.0
// What the simulated driver reports becomes records of the trace.
#include "sim_host.h"

#include <dlfcn.h>

#include "cufault/api_table.h"
#include "cufault/sim_host.h"
#include "process/libc_2_28.h"
#include "shim.h"
#include "threads.h"

namespace cufault::interpose {
namespace {

// By either name: an entry point's own, or that of the function in all its variants.
std::uint32_t index_of(const char *name) noexcept {
  const std::uint32_t symbol = api::symbol_index(name);
  if (symbol != api::symbol_count) return symbol;
  const api::function_info *const function = api::find_function(name);
  return function == nullptr ? 0 : api::symbols_of(*function)[0];
}

void write(std::uint16_t type, std::uint32_t kind, const char *symbol, std::uint64_t handle, const char *text) noexcept {
  check_fork();
  if (!the_shim.trace.started()) return;
  trace::text_fields fields;
  fields.type = type;
  fields.kind = kind;
  fields.symbol = symbol == nullptr ? 0 : index_of(symbol);
  fields.value = handle;
  fields.text = text == nullptr ? "" : text;
  the_shim.trace.write_text(this_thread().log, the_shim.faults.open_step(), fields);
}

void unmodelled(const char *symbol, const char *what) { write(CUFAULT_RECORD_UNMODELLED, 0, symbol, 0, what); }

void misuse(std::uint32_t kind, const char *symbol, std::uint64_t handle, const char *text) {
  write(CUFAULT_RECORD_MISUSE, kind, symbol, handle, text);
}

// Not before the first driver call of a thread of the simulator's own: the thread is made here.
void callback_enter() {
  check_fork();
  ++this_thread().callbacks;
}

void callback_leave() {
  if (thread *const me = this_thread_if_known(); me != nullptr && me->callbacks != 0) --me->callbacks;
}

}  // namespace

void attach_simulator() noexcept {
  const cufault_plan_header &header = the_shim.plan.header();
  using attach = std::uint32_t (*)(const cufault_sim_host *);
  const auto function = reinterpret_cast<attach>(::dlsym(the_shim.driver.handle, "cufault_sim_attach"));
  if (function == nullptr) return;
  static constinit cufault_sim_host host{};
  host.version = CUFAULT_SIM_HOST_VERSION;
  host.device_count = header.sim_device_count;
  host.driver_version = header.sim_driver_version;
  host.seed = header.sim_seed;
  host.profile = the_shim.plan.string(header.sim_profile);
  host.unmodelled = unmodelled;
  host.misuse = misuse;
  host.callback_enter = callback_enter;
  host.callback_leave = callback_leave;
  const std::uint32_t understood = function(&host);
  if (understood == 0) return;
  process::message why;
  why << "the simulated driver " << the_shim.driver.file.view() << " understands version " << understood
      << " of its host, this shim is of version " << CUFAULT_SIM_HOST_VERSION;
  process::refuse(why.view());
}

}  // namespace cufault::interpose

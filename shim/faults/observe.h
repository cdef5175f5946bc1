/* SPDX-License-Identifier: Apache-2.0 */
/* The template part of the engine: what a call that was carried out has made, ended and switched. */
#ifndef CUFAULT_FAULTS_OBSERVE_H
#define CUFAULT_FAULTS_OBSERVE_H

#include <string_view>

#include "engine.h"
#include "handle_roles.h"

namespace cufault::faults {

namespace detail {

/* The device that a call is given; -1: none. */
inline std::int64_t given_device(const call_facts &call) noexcept {
  std::int64_t device = -1;
  any_given_handle(call.symbol, call.args, [&](api::handle_kind kind, api::role_verb, std::uint64_t value) {
    if (kind == api::handle_kind::device) device = static_cast<std::int32_t>(value);
    return device >= 0;
  });
  return device;
}

}  // namespace detail

template <class Bound>
void engine::observe(const call_facts &call, thread_state &thread, Bound bound) noexcept {
  const api::symbol_info &symbol = api::symbols[call.symbol];
  const std::uint32_t step = open_step();
  const out_handles &outs = outs_of(call.symbol);
  for (std::size_t i = 0; i < outs.count; ++i) {
    const out_handle &out = outs.at[i];
    if (out.verb != api::role_verb::makes && out.verb != api::role_verb::retains) continue;
    const std::uint64_t handle = read_out(out, call.args);
    if (handle == 0) continue;
    if (same_kind(out.kind, api::handle_kind::context)) contexts_.made(handle, detail::given_device(call));
    handles_.made(out.kind, handle, step, [&](std::uint32_t name) { bound(name, out.kind, handle); });
  }
  if (symbol.roles_count != outs.count) {
    any_given_handle(call.symbol, call.args, [&](api::handle_kind kind, api::role_verb verb, std::uint64_t handle) {
      if (verb == api::role_verb::destroys && handle != 0) ended(kind, handle);
      return false;
    });
  }
  if (api::function_of(symbol).switches != api::context_switch::none) follow_switch(call, thread);
}

}  // namespace cufault::faults

#endif

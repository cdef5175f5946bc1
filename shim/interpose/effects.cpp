// SPDX-License-Identifier: Apache-2.0
// Effects that act: on time, on the program, on the driver.
#include "effects.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "cufault/api_table.h"
#include "process/libc_2_28.h"
#include "real_fault.h"
#include "shim.h"
#include "slots.h"

namespace cufault::interpose {
namespace {

[[noreturn]] void give_up(const faults::decision &decided, std::string_view why) noexcept {
  process::message text;
  text << "the effect of rule '" << the_shim.plan.label(decided.rule - 1) << "' cannot be had: " << why;
  process::refuse(text.view());
}

void wait(std::uint64_t nanoseconds) noexcept {
  timespec left{static_cast<time_t>(nanoseconds / 1'000'000'000u), static_cast<long>(nanoseconds % 1'000'000'000u)};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// The program's own function, whose driver calls count as made inside a callback: else it would fault itself for ever.
void call_back(const faults::decision &decided, std::uint32_t symbol, thread &me) noexcept {
  const char *const name = the_shim.plan.string(the_shim.plan.rule(decided.rule - 1).callback);
  const auto function = reinterpret_cast<void (*)(const char *)>(::dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) {
    process::text<256> why;
    why << "no library of the program exports " << name;
    give_up(decided, why.view());
  }
  ++me.callbacks;
  function(api::symbols[symbol].name);
  --me.callbacks;
}

// A third party is a thread of its own: what it ends stays current here, as it would.
struct deed {
  std::uint32_t symbol;
  std::uint64_t argument;
  std::int32_t result;
};

void *commit(void *given) {
  auto *const act = static_cast<deed *>(given);
  act->result = reinterpret_cast<std::int32_t (*)(std::uint64_t)>(backend_functions[act->symbol])(act->argument);
  return nullptr;
}

void have_done(const faults::decision &decided, deed act) noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before); /* a signal for the program is no business of the third party's */
  pthread_t party{};
  const bool started = ::pthread_create(&party, nullptr, commit, &act) == 0;
  if (started) ::pthread_join(party, nullptr);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (!started) give_up(decided, "no thread can be started");
  if (act.result != 0) {
    process::text<256> why;
    why << api::symbols[act.symbol].name << " answers " << act.result;
    give_up(decided, why.view());
  }
}

void destroy_context(const faults::decision &decided, const thread &me) noexcept {
  const std::uint64_t context = me.faults.contexts.current();
  if (context == 0) give_up(decided, "no context is current");
  have_done(decided, {api::symbol_index("cuCtxDestroy_v2"), context, 0});
  the_shim.faults.ended(api::handle_kind::context, context);
}

void reset_primary(const faults::decision &decided) noexcept {
  constexpr std::uint32_t symbol = api::symbol_index("cuCtxGetDevice");
  std::int32_t device = 0;
  const auto ask = reinterpret_cast<std::int32_t (*)(std::int32_t *)>(backend_functions[symbol]);
  if (ask(&device) != 0) give_up(decided, "no context is current");
  have_done(decided, {api::symbol_index("cuDevicePrimaryCtxReset_v2"), static_cast<std::uint64_t>(device), 0});
}

void real_fault(const faults::decision &decided) noexcept {
  process::text<256> why;
  if (!fault_the_device(the_shim.plan.rule(decided.rule - 1).code, why)) give_up(decided, why.view());
}

}  // namespace

void perform(const faults::decision &decided, std::uint32_t symbol, thread &me) noexcept {
  const int saved_errno = errno;
  switch (decided.effect) {
    case CUFAULT_EFFECT_DELAY: wait(the_shim.plan.rule(decided.rule - 1).delay_ns); break;
    case CUFAULT_EFFECT_HANG:
      for (;;) ::pause();
    case CUFAULT_EFFECT_CALLBACK: call_back(decided, symbol, me); break;
    case CUFAULT_EFFECT_DESTROY_CONTEXT: destroy_context(decided, me); break;
    case CUFAULT_EFFECT_RESET_PRIMARY: reset_primary(decided); break;
    case CUFAULT_EFFECT_REAL_FAULT: real_fault(decided); break;
    default: break;
  }
  errno = saved_errno;
}

}  // namespace cufault::interpose

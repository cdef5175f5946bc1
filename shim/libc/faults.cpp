// SPDX-License-Identifier: Apache-2.0
// From the first call to a plan in force, and from a call to the rules that it matches.
#include "faults.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include "modules.h"
#include "plan.h"
#include "process/lifetime.h"
#include "process/lock.h"
#include "process/refuse.h"
#include "record.h"

namespace cufault::libc {
namespace {

enum class state : std::uint32_t { undecided, idle, armed };

// Constant-initialised and never destroyed: calls arrive before main and after exit handlers.
struct preload {
  std::atomic<libc::state> state{libc::state::undecided};
  process::lock lock;
  process::lifetime life;
  libc::plan plan;
  libc::modules modules;
  libc::record record;
  std::uint32_t pid = 0;
};

constinit preload the_preload;

// Neither may be reached through __tls_get_addr, which allocates.
__attribute__((tls_model("initial-exec"))) constinit thread_local bool starting = false;
__attribute__((tls_model("initial-exec"))) constinit thread_local bool next_fails = false;

void refuse_plan(const char* path, const process::message& why) noexcept {
  process::message text;
  text << "the libc plan " << path << " is refused: " << why.view();
  process::refuse(text.view());
}

state decide() noexcept {
  const char* const path = ::getenv(CUFAULT_LIBC_PLAN_VARIABLE);
  if (path == nullptr || *path == '\0') return state::idle;
  process::message why;
  std::size_t size = 0;
  const char* const bytes = read_plan_file(path, size, why);
  if (bytes == nullptr || !the_preload.plan.read(bytes, size, why)) refuse_plan(path, why);
  the_preload.pid = static_cast<std::uint32_t>(::getpid());
  if (!the_preload.life.begin() || !the_preload.modules.start(the_preload.plan))
    process::refuse("no memory for the libc plan");
  if (!the_preload.record.start(the_preload.plan, 0, why)) refuse_plan(path, why);
  return state::armed;
}

/*
 * In practice one thread is all there is: the loader allocates the first thread-local storage of a second one, and
 * every dlopen, through here. So nobody waits for this lock while the holder waits for the loader's.
 */
state start() noexcept {
  // Before libc is initialised there is no environment to ask; the loader may allocate even then.
  if (::environ == nullptr || starting) return state::undecided;
  const int saved_errno = errno;
  starting = true;
  {
    const process::hold held(the_preload.lock);
    if (the_preload.state.load(std::memory_order_acquire) == state::undecided)
      the_preload.state.store(decide(), std::memory_order_release);
  }
  starting = false;
  errno = saved_errno;
  return the_preload.state.load(std::memory_order_acquire);
}

// A forked child counts from zero, in a file of its own, from its first call on.
void renew_after_fork() noexcept {
  const int saved_errno = errno;
  starting = true;
  const std::uint32_t parent = the_preload.pid;
  the_preload.pid = static_cast<std::uint32_t>(::getpid());
  process::message why;
  if (!the_preload.record.start(the_preload.plan, parent, why)) process::refuse(why.view());
  the_preload.life.renew();
  starting = false;
  errno = saved_errno;
}

bool armed(entry which) noexcept {
  state now = the_preload.state.load(std::memory_order_acquire);
  if (now == state::undecided) [[unlikely]]
    now = start();
  if (now == state::armed && !starting) {
    if (!the_preload.life.same_process()) [[unlikely]]
      renew_after_fork();
    return true;
  }
  if (now == state::idle) pass_through(which);
  return false;
}

bool fires(const cufault_libc_rule& rule, std::uint64_t ordinal) noexcept {
  if (ordinal < rule.from || (ordinal - rule.from) % rule.every != 0) return false;
  // Which firing this is follows from the ordinal alone, so no second counter has to agree with the first.
  return rule.limit == 0 || (ordinal - rule.from) / rule.every < rule.limit;
}

// `candidates` have passed every filter but the module. Every one that matches counts, the first that fires decides.
const cufault_libc_rule* match(std::uint64_t candidates, std::uint32_t function, std::uint64_t value,
                               const void* caller) noexcept {
  if (candidates == 0) return nullptr;
  module where;
  if (!the_preload.modules.find(caller, where)) {
    the_preload.record.module_lost();
    return nullptr;
  }
  candidates &= where.rules;
  if (candidates == 0 || is_own_call(caller)) return nullptr;
  const cufault_libc_rule* fired = nullptr;
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(candidates));
    const cufault_libc_rule& rule = the_preload.plan.rule(index);
    const std::uint64_t ordinal = the_preload.record.count_match(index);
    if (fired != nullptr || !fires(rule, ordinal)) continue;
    fired = &rule;
    the_preload.record.fired({index, function, ordinal, value, caller}, where);
  }
  return fired;
}

}  // namespace

bool allocation_fails(entry which, std::size_t size, const void* caller) noexcept {
  if (!armed(which)) return false;
  const std::uint32_t function = facts_of(which).function;
  if (next_fails && function != CUFAULT_LIBC_OPERATOR_NEW) {
    next_fails = false;
    return true;
  }
  std::uint64_t candidates = 0;
  for (std::uint64_t left = the_preload.plan.rules_watching(function); left != 0; left &= left - 1) {
    const cufault_libc_rule& rule = the_preload.plan.rule(static_cast<std::uint32_t>(std::countr_zero(left)));
    if (size >= rule.least_size && (rule.most_size == 0 || size <= rule.most_size)) candidates |= left & (~left + 1);
  }
  const int saved_errno = errno;
  const bool fails = match(candidates, function, size, caller) != nullptr;
  errno = saved_errno;
  return fails;
}

close_fault close_fails(int descriptor, const void* caller) noexcept {
  if (!armed(entry::close)) return {};
  std::uint64_t candidates = 0;
  for (std::uint64_t left = the_preload.plan.rules_watching(CUFAULT_LIBC_CLOSE); left != 0; left &= left - 1) {
    const cufault_libc_rule& rule = the_preload.plan.rule(static_cast<std::uint32_t>(std::countr_zero(left)));
    if (rule.descriptor == -1 || rule.descriptor == descriptor) candidates |= left & (~left + 1);
  }
  const int saved_errno = errno;
  const cufault_libc_rule* const rule =
      match(candidates, CUFAULT_LIBC_CLOSE, static_cast<std::uint64_t>(descriptor), caller);
  errno = saved_errno;
  if (rule == nullptr) return {};
  return {rule->error, (rule->flags & CUFAULT_LIBC_REALLY_CLOSE) != 0};
}

void fail_next_allocation() noexcept { next_fails = true; }

bool take_back_failure() noexcept {
  const bool untaken = next_fails;
  next_fails = false;
  return untaken;
}

}  // namespace cufault::libc

// SPDX-License-Identifier: Apache-2.0
// Finding, making and reusing what belongs to a thread.
#include "threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "process/memory.h"
#include "shim.h"

namespace cufault::interpose {
namespace {

// Initial-exec: a plain load from a fixed offset, no call and no allocation at a thread's first access.
__attribute__((tls_model("initial-exec"))) thread_local thread *own = nullptr;

constinit std::atomic<thread *> all{nullptr};
constinit std::atomic<std::uint32_t> last_ordinal{0};
constinit std::atomic<std::uint32_t> living{0};
constinit std::atomic<std::uint32_t> reclaim_at{64};
constinit std::atomic<std::uint64_t> calls_of_the_dead{0};

// Marks a block that is being emptied; no thread has that id.
constexpr std::uint32_t busy_tid = 0xffffffffu;

// One thread's block holds nothing that another thread writes often; whole cache lines keep it so.
constexpr std::size_t block_size = (sizeof(thread) + 255) / 256 * 256;

void take_over_the_dead() noexcept {
  const auto process = ::getpid();
  std::uint32_t alive = 0;
  for (thread *each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    std::uint32_t tid = each->tid.load(std::memory_order_acquire);
    if (tid == 0) continue;
    if (::syscall(SYS_tgkill, process, tid, 0) == 0 || errno != ESRCH) {
      ++alive;
    } else if (each->tid.compare_exchange_strong(tid, busy_tid, std::memory_order_acq_rel)) {
      calls_of_the_dead.fetch_add(each->calls.exchange(0), std::memory_order_relaxed);
      the_shim.trace.forget(each->log);
      each->tid.store(0, std::memory_order_release);
    }
  }
  living.store(alive, std::memory_order_relaxed);
  reclaim_at.store(alive < 32 ? 64 : alive * 2, std::memory_order_relaxed);
}

thread *reuse(std::uint32_t tid) noexcept {
  for (thread *each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    std::uint32_t free = 0;
    if (each->tid.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) return each;
  }
  return nullptr;
}

// Blocks come a page at a time, and what is left of the page goes to the list as free ones.
thread *add(std::uint32_t tid) noexcept {
  constexpr std::size_t bytes = process::whole_pages(block_size * 2);
  auto *const at = static_cast<char *>(process::map_pages(bytes));
  if (at == nullptr) return nullptr;
  thread *mine = nullptr;
  for (std::size_t i = 0; i + block_size <= bytes; i += block_size) {
    auto *const block = reinterpret_cast<thread *>(at + i);
    if (mine == nullptr) {
      mine = block;
      block->tid.store(tid, std::memory_order_relaxed);
    }
    block->next = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(block->next, block, std::memory_order_release)) {
    }
  }
  return mine;
}

thread &make() noexcept {
  const int saved_errno = errno;
  const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  if (living.fetch_add(1, std::memory_order_relaxed) + 1 >= reclaim_at.load(std::memory_order_relaxed)) take_over_the_dead();
  thread *made = reuse(tid);
  if (made == nullptr) made = add(tid);
  if (made == nullptr) process::refuse("no memory for what a thread needs");
  made->faults = {};
  made->faults.ordinal = last_ordinal.fetch_add(1, std::memory_order_relaxed) + 1;
  made->faults.main = tid == static_cast<std::uint32_t>(::getpid());
  made->stack = {};
  made->depth = 0;
  made->callbacks = 0;
  made->of_the_driver = false;
  made->log = {};
  if (the_shim.trace.started() && !the_shim.trace.open(made->log, made->faults.ordinal, tid) && made->faults.ordinal == 1)
    process::refuse("there is no room for the trace in the plan's run_folder");
  own = made;
  errno = saved_errno;
  return *made;
}

}  // namespace

thread &this_thread() noexcept {
  thread *const known = own;
  return known != nullptr ? *known : make();
}

thread *this_thread_if_known() noexcept { return own; }

std::uint64_t count_calls() noexcept {
  std::uint64_t count = calls_of_the_dead.load(std::memory_order_relaxed);
  for (const thread *each = all.load(std::memory_order_acquire); each != nullptr; each = each->next)
    count += each->calls.load(std::memory_order_relaxed);
  return count;
}

void forget_threads() noexcept {
  own = nullptr;
  all.store(nullptr, std::memory_order_relaxed);
  last_ordinal.store(0, std::memory_order_relaxed);
  living.store(0, std::memory_order_relaxed);
  reclaim_at.store(64, std::memory_order_relaxed);
  calls_of_the_dead.store(0, std::memory_order_relaxed);
}

}  // namespace cufault::interpose

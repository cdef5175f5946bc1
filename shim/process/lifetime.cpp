// SPDX-License-Identifier: Apache-2.0
// The page that a fork clears.
#include "lifetime.h"

#include <pthread.h>
#include <sys/mman.h>

#include "memory.h"

namespace cufault::process {
namespace {

std::atomic<std::atomic<std::uint32_t> *> atfork_mark{nullptr};

void clear_in_child() {
  if (auto *const mark = atfork_mark.load(std::memory_order_relaxed)) mark->store(0, std::memory_order_relaxed);
}

}  // namespace

bool lifetime::begin() noexcept {
  auto *const mark = static_cast<std::atomic<std::uint32_t> *>(map_pages(page_size));
  if (mark == nullptr) return false;
  if (::madvise(mark, page_size, MADV_WIPEONFORK) != 0) {
    atfork_mark.store(mark, std::memory_order_relaxed);
    if (::pthread_atfork(nullptr, nullptr, clear_in_child) != 0) return false;
  }
  mark->store(1, std::memory_order_relaxed);
  mark_.store(mark, std::memory_order_release);
  return true;
}

void lifetime::renew() noexcept { mark_.load(std::memory_order_relaxed)->store(1, std::memory_order_release); }

}  // namespace cufault::process

// SPDX-License-Identifier: Apache-2.0
// The list of clean-up that driver callbacks have asked for.
#include "cufault/handles/deferred.h"

#include <atomic>

namespace cufault::handles {
namespace {

constinit std::atomic<deferred*> newest{nullptr};
constinit std::atomic<deferred_hook> hook_in_force{nullptr};

}  // namespace

void defer(deferred& work) noexcept {
  deferred* head = newest.load(std::memory_order_relaxed);
  do {
    work.next_ = head;
  } while (!newest.compare_exchange_weak(head, &work, std::memory_order_release, std::memory_order_relaxed));
  if (const deferred_hook hook = hook_in_force.load(std::memory_order_acquire)) {
    hook();
  }
}

void drain_deferred() noexcept {
  if (newest.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  deferred* head = newest.exchange(nullptr, std::memory_order_acquire);
  deferred* oldest = nullptr;
  while (head != nullptr) {
    deferred* next = head->next_;
    head->next_ = oldest;
    oldest = head;
    head = next;
  }
  while (oldest != nullptr) {
    deferred* work = oldest;
    oldest = work->next_;
    work->run();  // frees it
  }
}

deferred_hook exchange_deferred_hook(deferred_hook hook) noexcept {
  return hook_in_force.exchange(hook, std::memory_order_acq_rel);
}

}  // namespace cufault::handles

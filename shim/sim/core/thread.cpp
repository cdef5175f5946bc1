// SPDX-License-Identifier: Apache-2.0
// Thread records: a plain thread_local pointer, freed by a pthread key, which runs after C++ thread_local destructors.
#include "core/thread.h"

#include <pthread.h>

#include <atomic>
#include <utility>

#include "core/report.h"

namespace cufault::sim {

namespace {

thread_local Thread* record = nullptr;
std::atomic<std::uint64_t> ordinals{0};

void drop(void* thread) {
  record = nullptr;
  delete static_cast<Thread*>(thread);
}

pthread_key_t key() {
  static const pthread_key_t made = [] {
    pthread_key_t fresh{};
    pthread_key_create(&fresh, drop);
    return fresh;
  }();
  return made;
}

}  // namespace

Thread& this_thread() {
  if (record == nullptr) [[unlikely]] {
    record = new Thread;
    record->ordinal = ++ordinals;
    pthread_setspecific(key(), record);
  }
  return *record;
}

void pay(Thread& thread) {
  const CallbackBracket bracket;
  const Callback outer = std::exchange(thread.callback, Callback::host_function);
  for (const auto& function : std::exchange(thread.owed, {})) function();
  thread.callback = outer;
}

}  // namespace cufault::sim

/* SPDX-License-Identifier: Apache-2.0 */
/* Where each entry point goes at this moment: one pointer per symbol, which the trampolines jump through. */
#ifndef CUFAULT_INTERPOSE_SLOTS_H
#define CUFAULT_INTERPOSE_SLOTS_H

#include <atomic>
#include <cstdint>

extern "C" {
/* Indexed by symbol. Before the start: the symbol's bootstrap. Disarmed: the backend's function. Armed: its wrapper. */
extern __attribute__((visibility("hidden"))) void *cufault_slots[];
/* The shim's own exported entry, which cuGetProcAddress hands out. */
extern __attribute__((visibility("hidden"))) void *const cufault_trampolines[];
}

namespace cufault::interpose {

/* The armed wrapper of each symbol (dispatch.cpp). */
extern void *const armed_wrappers[];

/* What to forward to; set once by the start, before any slot leaves its bootstrap. */
extern void *backend_functions[];

inline void *slot(std::uint32_t symbol) noexcept {
  return std::atomic_ref<void *>(cufault_slots[symbol]).load(std::memory_order_relaxed);
}

inline void set_slot(std::uint32_t symbol, void *target) noexcept {
  std::atomic_ref<void *>(cufault_slots[symbol]).store(target, std::memory_order_release);
}

}  // namespace cufault::interpose

#endif

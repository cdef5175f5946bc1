/* SPDX-License-Identifier: Apache-2.0 */
/* Writes stacks.<pid>, each stack once, and keeps maps.<pid> good enough to name their addresses afterwards. */
#ifndef CUFAULT_TRACE_STACKS_H
#define CUFAULT_TRACE_STACKS_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cufault/trace_format.h"
#include "process/lock.h"
#include "process/refuse.h"

namespace cufault::trace {

/* A known stack costs one look into a table; a new one is appended under a lock. */
class stack_store {
 public:
  static constexpr std::size_t deepest = 128;

  /* In a forked child call it again. False: `why`. */
  [[nodiscard]] bool start(const char *folder, process::message &why) noexcept;
  [[nodiscard]] bool started() const noexcept { return head_ != nullptr; }

  /* The stack's id in the file, from 1; 0: it found no room and was counted as lost. */
  [[nodiscard]] std::uint32_t id_of(const std::uintptr_t *addresses, std::size_t depth, std::uint64_t hash) noexcept;

 private:
  struct slot {
    std::atomic<std::uint64_t> hash;
    std::atomic<std::uint32_t> id;
  };
  static constexpr std::size_t slots = std::size_t{1} << 16;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  static constexpr std::size_t chunk = std::size_t{1} << 20;

  [[nodiscard]] slot &place_of(std::uint64_t hash) noexcept;
  [[nodiscard]] std::uint32_t append(const std::uintptr_t *addresses, std::size_t depth, std::uint64_t hash) noexcept;
  [[nodiscard]] int open_file() const noexcept;
  [[nodiscard]] bool continue_file() noexcept;
  [[nodiscard]] bool reserve_more() noexcept;
  void copy_maps() noexcept;

  const char *folder_ = nullptr;
  std::uint32_t pid_ = 0;
  cufault_stacks_header *head_ = nullptr;
  std::size_t reserved_ = 0;
  std::uint32_t last_id_ = 0;
  std::uint32_t used_slots_ = 0;
  std::uint64_t loads_ = 0; /* of modules, when maps were copied last */
  slot *table_ = nullptr;
  process::lock lock_;
};

}  // namespace cufault::trace

#endif

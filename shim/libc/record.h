/* SPDX-License-Identifier: Apache-2.0 */
/* Writes libc.<pid>: how often each rule matched and fired, and every firing, in a file that outlives the process. */
#ifndef CUFAULT_LIBC_RECORD_H
#define CUFAULT_LIBC_RECORD_H

#include <cstdint>

#include "modules.h"
#include "plan.h"
#include "process/refuse.h"

namespace cufault::libc {

struct firing {
  std::uint32_t rule = 0; /* index */
  std::uint32_t function = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t value = 0;
  const void* caller = nullptr;
};

class record {
 public:
  /* Makes the file and maps it, with every count zero. parent 0: not forked. False: `why`. */
  [[nodiscard]] bool start(const plan& plan, std::uint32_t parent, process::message& why) noexcept;

  /* This call's number among those that the rule matched: exact whatever the number of threads, because it is drawn
   * here. */
  [[nodiscard]] std::uint64_t count_match(std::uint32_t rule) noexcept;
  void fired(const firing& what, const module& where) noexcept;
  void module_lost() noexcept;

 private:
  cufault_libc_record_header* header_ = nullptr;
  cufault_libc_rule_count* rules_ = nullptr;
  cufault_libc_firing* firings_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cufault::libc

#endif

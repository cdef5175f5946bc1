/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the stand-in driver. */
#ifndef CUFAULT_TESTS_STANDIN_H
#define CUFAULT_TESTS_STANDIN_H

#include <cstdint>
#include <cstring>

#include "cufault/api_table.h"
#include "interpose/driver_types.h"
#include "standin_driver.h"

namespace standin {

template <class T>
std::uint64_t word_of(const T &argument) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &argument, sizeof argument < sizeof word ? sizeof argument : sizeof word);
  return word;
}

/* Counts the call and carries it out. */
CUresult answer(std::uint32_t symbol, const std::uint64_t *args) noexcept;

/* By symbol; null for the one that this driver does not have. */
extern void *const functions[];

}  // namespace standin

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: the driver answers, and the shim's own entry is handed out in place of the same symbol. */
#ifndef CUFAULT_INTERPOSE_LOOKUPS_H
#define CUFAULT_INTERPOSE_LOOKUPS_H

#include <cstdint>

#include "call.h"

namespace cufault::interpose {

/* Keeps which symbol stands at which address of the driver; `absent` is what stands for none. */
void remember_addresses(void *const *functions, const void *absent) noexcept;

/*
 * After a look-up that the driver answered with success: replaces the pointer that it wrote, hides a function that the
 * plan declares missing, and writes down which it was. Returns the result to give.
 */
[[nodiscard]] std::int32_t finish_lookup(call &call, std::int32_t real) noexcept;

/* After cuGetExportTable: the table is the driver's own, and what goes through it is invisible. */
void note_export_table(const call &call, std::int32_t real) noexcept;

}  // namespace cufault::interpose

#endif

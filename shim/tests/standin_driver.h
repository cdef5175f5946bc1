/* SPDX-License-Identifier: Apache-2.0 */
/* A driver library for tests: it keeps contexts as a driver does, makes handles out of numbers, and counts its calls. */
#ifndef CUFAULT_TESTS_STANDIN_DRIVER_H
#define CUFAULT_TESTS_STANDIN_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often the entry point of exactly that name was called. */
uint64_t standin_calls(const char *symbol);
/* What it answers from now on, without doing anything else. 0: succeeds again. */
void standin_answer(const char *symbol, int32_t result);
/* Called once inside every call of that name, on the calling thread; null: no more. */
void standin_call_back(const char *symbol, void (*function)(void *), void *data);

#ifdef __cplusplus
}
#endif

#endif

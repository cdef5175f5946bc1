/* SPDX-License-Identifier: Apache-2.0 */
/* A module that brings the only operator new of its process along, and takes it away when it is unloaded. */
#include <malloc.h>
#include <stdlib.h>

void* _Znwm(unsigned long size);

/* How many bytes it was given room for, rounded down to 16. */
int victim_new(void);
int victim_new(void) {
  void* const memory = _Znwm(16);
  const int usable = memory == NULL ? -1 : (int)malloc_usable_size(memory);
  free(memory);
  return usable / 16 * 16;
}

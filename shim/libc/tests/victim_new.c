/* SPDX-License-Identifier: Apache-2.0 */
/* An operator new in a library that nothing but its user keeps loaded: libstdc++ pins itself by its unique symbols. */
#include <stdlib.h>

void* _Znwm(unsigned long size);
void* _Znwm(unsigned long size) { return malloc(size); }

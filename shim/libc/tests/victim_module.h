/* SPDX-License-Identifier: Apache-2.0 */
/* A library under test: it allocates in every way there is, and looks after driver objects, well or badly. */
#ifndef CUFAULT_LIBC_TESTS_VICTIM_MODULE_H
#define CUFAULT_LIBC_TESTS_VICTIM_MODULE_H

#include <stddef.h>

extern "C" {
/* Each allocates `size` bytes in its own way: 0 if it got them, else the errno; operator new answers 12 for bad_alloc.
 */
struct victim_way {
  const char* name;
  int (*allocate)(size_t size);
};
extern const struct victim_way victim_ways[];
extern const size_t victim_way_count;

/* Both make a driver object and then the C++ owner of it; 0, or -1 after bad_alloc. Only the careful one gives it back.
 */
int victim_make_careless(void);
int victim_make_careful(void);
int victim_live_objects(void);

/* Elements in a std::vector<int> after push_back until `wanted` or bad_alloc; what a shared_ptr counts, or -1. */
int victim_grow_vector(int wanted);
int victim_share(void);

/* malloc and free of one block; 0, or the errno. */
int victim_malloc(size_t size);
/* A block that grows: 1 if realloc failed and the old content is still whole. */
int victim_regrow(void);
int victim_close(int descriptor);
}

#endif

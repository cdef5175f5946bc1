// SPDX-License-Identifier: Apache-2.0
// Turns the loader's search for the driver to the shim where a preload does not do it: absolute paths, other namespaces.
#include <link.h>

/*
 * For LD_AUDIT, beside the preload, which must be there too: the loader tells this library of every object that it opens, and the
 * first libcuda.so.1 among them is the preload. From then on whoever asks for a file of the driver's name, with or without
 * folders, gets that. The shim opens the real driver by a path that begins with two slashes, which mean no more than one
 * and tell its own request from all others. Linked against nothing, so that the loader needs no second libc for it.
 */

namespace {

const char *shim = nullptr;

const char *file_name(const char *path) noexcept {
  const char *name = path;
  for (const char *each = path; *each != '\0'; ++each) {
    if (*each == '/') name = each + 1;
  }
  return name;
}

bool same(const char *one, const char *other) noexcept {
  while (*one != '\0' && *one == *other) {
    ++one;
    ++other;
  }
  return *one == *other;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

unsigned int la_version(unsigned int version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

unsigned int la_objopen(link_map *map, Lmid_t, uintptr_t *) {
  if (shim == nullptr && map->l_name != nullptr && same(file_name(map->l_name), "libcuda.so.1")) shim = map->l_name;
  return 0;
}

char *la_objsearch(const char *name, uintptr_t *, unsigned int flag) {
  const bool own_request = name[0] == '/' && name[1] == '/';
  const char *const file = file_name(name);
  const bool driver = same(file, "libcuda.so.1") || same(file, "libcuda.so");
  const char *const found = flag == LA_SER_ORIG && shim != nullptr && driver && !own_request ? shim : name;
  return const_cast<char *>(found);
}
}
#pragma GCC visibility pop

/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the functions that glibc moved between its libraries to their old versions: the shim must load on glibc 2.28. */
#ifndef CUFAULT_PROCESS_LIBC_2_28_H
#define CUFAULT_PROCESS_LIBC_2_28_H

/*
 * glibc 2.34 merged libdl and libpthread into libc and gave what moved a new default version. The old versions are
 * still there, so a reference to them loads everywhere; DT_NEEDED names the old libraries (interpose/meson.build).
 * fstat and its kin (2.33) are avoided by statx (2.28). A sanitizer intercepts the default versions, so there nothing
 * is bound. The version of the oldest glibc differs by machine; only x86-64 is checked (tests/abi).
 */
#if defined(__x86_64__) && !defined(CUFAULT_WITH_SANITIZER)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlclose, dlclose@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver dlinfo, dlinfo@GLIBC_2.3.3");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join, pthread_join@GLIBC_2.2.5");
#endif

#endif

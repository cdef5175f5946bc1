/* SPDX-License-Identifier: Apache-2.0 */
/* The types of EGL that cudaEGL.h uses, so that the shim builds without EGL. */
#pragma once
#include <stdint.h>
typedef int32_t EGLint;
typedef void *EGLDisplay;

/* SPDX-License-Identifier: Apache-2.0 */
/* The types of EGL extensions that cudaEGL.h uses, so that the shim builds without EGL. */
#pragma once
typedef void *EGLStreamKHR;
typedef void *EGLImageKHR;
typedef void *EGLSyncKHR;

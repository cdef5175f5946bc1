// SPDX-License-Identifier: Apache-2.0
// Every declaration of cuda.h, old variants too and without its macros, and stand-ins for types of OpenGL, EGL and VDPAU.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

// As in the headers of those interfaces, which a build of this library does not need.
extern "C" {
typedef unsigned int GLuint;
typedef unsigned int GLenum;
typedef unsigned int VdpDevice;
typedef unsigned int VdpVideoSurface;
typedef unsigned int VdpOutputSurface;
typedef int VdpStatus;
typedef VdpStatus VdpGetProcAddress(VdpDevice device, unsigned int function_id, void** function_pointer);
typedef int EGLint;
typedef void* EGLImageKHR;
typedef void* EGLStreamKHR;
typedef void* EGLSyncKHR;
// Passed by value in memory; nobody here looks into it.
typedef struct CUeglFrame_st {
  void* planes[3];
} CUeglFrame;
typedef struct CUeglStreamConnection_st* CUeglStreamConnection;
typedef unsigned int CUeglResourceLocationFlags;
typedef int CUGLDeviceList;
typedef int CUGLmap_flags;
}

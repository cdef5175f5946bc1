/* SPDX-License-Identifier: Apache-2.0 */
/* The types of OpenGL that cudaGL.h uses, so that the shim builds without OpenGL. */
#pragma once
typedef unsigned int GLenum;
typedef unsigned int GLuint;

// SPDX-License-Identifier: Apache-2.0
// Handles that are not the driver's: file descriptors, and the programs of NVRTC, NVVM and nvJitLink.
#ifndef CUFAULT_HANDLES_FOREIGN_H
#define CUFAULT_HANDLES_FOREIGN_H

#include "cufault/handles/resource.h"

namespace cufault::handles {

// An exported descriptor. close(2) is never repeated: on Linux the descriptor is gone whatever it answers.
class file_descriptor final : public resource {
 public:
  // `close_function` is close(2), or a double of it.
  [[nodiscard]] static unique<file_descriptor> adopt(int descriptor, int (*close_function)(int));
  [[nodiscard]] int raw() const noexcept { return descriptor_; }

 private:
  file_descriptor(int descriptor, int (*close_function)(int)) noexcept
      : descriptor_(descriptor), close_(close_function) {}
  ~file_descriptor() override = default;
  void destroy(cleanup& failures) noexcept override;

  int descriptor_;
  int (*close_)(int);
};

// How a compiler library destroys its handles and names its results: nvrtcDestroyProgram and nvrtcGetErrorString,
// nvvmDestroyProgram and nvvmGetErrorString, nvJitLinkDestroy (which names none). All three libraries pass the address
// of the handle and answer 0 for success.
struct compiler_library {
  const char* destroy_name;
  int (*destroy)(void** program);
  const char* (*result_text)(int result);  // may be null
};

class compiler_program final : public resource {
 public:
  // `from` must outlive the program (it is static data).
  [[nodiscard]] static unique<compiler_program> adopt(const compiler_library& from, void* program);
  [[nodiscard]] void* raw() const noexcept { return program_; }

 private:
  compiler_program(const compiler_library& from, void* program) noexcept : library_(from), program_(program) {}
  ~compiler_program() override = default;
  void destroy(cleanup& failures) noexcept override;

  const compiler_library& library_;
  void* program_;
};

}  // namespace cufault::handles

#endif

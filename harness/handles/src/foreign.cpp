// SPDX-License-Identifier: Apache-2.0
// File descriptors and compiler handles.
#include "cufault/handles/foreign.h"

#include <cerrno>
#include <cstring>

namespace cufault::handles {

unique<file_descriptor> file_descriptor::adopt(int descriptor, int (*close_function)(int)) {
  return unique<file_descriptor>(new file_descriptor(descriptor, close_function));
}

void file_descriptor::destroy(cleanup& failures) noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  if (close_(descriptor) != 0) {
    failures.note(
        {{CUDA_ERROR_OPERATING_SYSTEM, false, "close", static_cast<std::uint64_t>(descriptor), strerrordesc_np(errno)},
         "the file descriptor may be leaked",
         restoration::no,
         nullptr});
  }
}

unique<compiler_program> compiler_program::adopt(const compiler_library& from, void* program) {
  return unique<compiler_program>(new compiler_program(from, program));
}

void compiler_program::destroy(cleanup& failures) noexcept {
  void* program = std::exchange(program_, nullptr);
  const std::uint64_t handle = as_number(program);
  const int result = library_.destroy(&program);
  if (result != 0) {
    const char* text = library_.result_text == nullptr ? "the library gives no reason" : library_.result_text(result);
    failures.note({{CUDA_ERROR_UNKNOWN, false, library_.destroy_name, handle, text},
                   "the program is leaked",
                   restoration::no,
                   nullptr});
  }
}

}  // namespace cufault::handles

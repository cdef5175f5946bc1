/* SPDX-License-Identifier: Apache-2.0 */
/* Names of trace files, and making one so that it appears whole. */
#ifndef CUFAULT_TRACE_FILES_H
#define CUFAULT_TRACE_FILES_H

#include <cstddef>
#include <cstdint>

#include "process/text.h"

namespace cufault::trace {

using path = process::text<4096>;

/* A file without a name yet. Closed when it goes out of scope; unlinked if it was not published. */
class new_file {
 public:
  /* Made next to its later name. ok() is false if that failed. */
  new_file(const char *folder, std::uint32_t pid, std::uint32_t tid) noexcept;
  ~new_file();
  new_file(const new_file &) = delete;
  new_file &operator=(const new_file &) = delete;

  [[nodiscard]] bool ok() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int error() const noexcept { return error_; }
  /* Real space, so that a later write into a mapping cannot fail. */
  [[nodiscard]] bool reserve(std::size_t size) noexcept;
  /* Writes zeros from the start: the file's pages come in large pieces, not one by one as they are touched in a mapping. */
  [[nodiscard]] bool fill(std::size_t size) noexcept;
  [[nodiscard]] bool write(const void *from, std::size_t size) noexcept;
  /* Shared and writable; nullptr if refused. */
  [[nodiscard]] void *map(std::size_t size) noexcept;
  /* Gives it its name. False with error() EEXIST if somebody has it. */
  [[nodiscard]] bool publish(const char *name) noexcept;

 private:
  path aside_;
  int descriptor_ = -1;
  int error_ = 0;
  bool published_ = false;
};

}  // namespace cufault::trace

#endif

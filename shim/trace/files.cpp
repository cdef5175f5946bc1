// SPDX-License-Identifier: Apache-2.0
// Files that appear under their name only when they are whole.
#include "files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>


#include "process/memory.h"

namespace cufault::trace {

new_file::new_file(const char *folder, std::uint32_t pid, std::uint32_t tid) noexcept {
  aside_ << folder << "/.new." << pid << "." << tid;
  // A leftover can only be of a process that had this pid before us and was killed.
  ::unlink(aside_.c_str());
  descriptor_ = ::open(aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) error_ = errno;
}

new_file::~new_file() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!published_) ::unlink(aside_.c_str());
}

bool new_file::reserve(std::size_t size) noexcept {
  error_ = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
  return error_ == 0;
}

bool new_file::fill(std::size_t size) noexcept {
  constexpr std::size_t piece = std::size_t{1} << 16;
  void *const zeros = process::map_pages(piece);
  bool filled = zeros != nullptr;
  for (std::size_t at = 0; filled && at < size; at += piece) {
    const std::size_t now = size - at < piece ? size - at : piece;
    filled = ::pwrite(descriptor_, zeros, now, static_cast<off_t>(at)) == static_cast<ssize_t>(now);
  }
  if (zeros != nullptr) process::unmap_pages(zeros, piece);
  return filled;
}

bool new_file::write(const void *from, std::size_t size) noexcept {
  const char *at = static_cast<const char *>(from);
  while (size != 0) {
    const ssize_t wrote = ::write(descriptor_, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error_ = wrote < 0 ? errno : EIO;
      return false;
    }
    at += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return true;
}

void *new_file::map(std::size_t size) noexcept {
  void *const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at != MAP_FAILED) return at;
  error_ = errno;
  return nullptr;
}

bool new_file::publish(const char *name) noexcept {
  if (::link(aside_.c_str(), name) == 0) {
    ::unlink(aside_.c_str());
    published_ = true;
    return true;
  }
  error_ = errno;
  if (error_ == EEXIST) return false;
  // A file system without hard links. Only a process that had our pid can hold the name, and it is gone.
  if (::access(name, F_OK) == 0) {
    error_ = EEXIST;
    return false;
  }
  published_ = ::rename(aside_.c_str(), name) == 0;
  if (!published_) error_ = errno;
  return published_;
}

}  // namespace cufault::trace

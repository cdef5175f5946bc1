// SPDX-License-Identifier: Apache-2.0
// Arenas: a sparse file, its head, and a first-fit allocator.
#include "memory/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

namespace cufault::sim {

namespace {

constexpr std::size_t kSize = std::size_t{1} << 40;  // of addresses: pages exist once they are touched
constexpr std::size_t kGrain = 512;
constexpr std::size_t kHole = 65536;  // ranges of this size give their pages back
constexpr char kMark[8] = {'C', 'U', 'F', 'A', 'R', 'E', 'N', 'A'};

std::size_t rounded(std::size_t size) { return (size == 0 ? kGrain : size + kGrain - 1) / kGrain * kGrain; }

void* map(int fd, std::size_t size) {
  void* range = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return range == MAP_FAILED ? nullptr : range;
}

}  // namespace

struct Arena::Head {
  char mark[8];
  std::uint64_t identity;
  std::uint64_t has_props;
  CUmemPoolProps props;
  SharedSlot slots[kSlots];
};

namespace {
constexpr std::size_t kHead = std::size_t{1} << 20;
}

std::shared_ptr<Arena> Arena::make(const CUmemPoolProps* props) {
  static_assert(sizeof(Head) <= kHead);
  const int fd = memfd_create("cufault-sim", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  void* base = ftruncate(fd, static_cast<off_t>(kSize)) == 0 ? map(fd, kSize) : nullptr;
  if (base == nullptr) {
    close(fd);
    return nullptr;
  }
  std::shared_ptr<Arena> arena(new Arena(fd, base, kSize));
  arena->used_ = kHead;
  Head& head = *arena->head();
  std::memcpy(head.mark, kMark, sizeof kMark);
  std::random_device random;
  head.identity = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  if (props != nullptr) {
    head.has_props = 1;
    head.props = *props;
  }
  return arena;
}

std::shared_ptr<Arena> Arena::open(int fd) {
  struct stat status {};
  char mark[sizeof kMark];
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != static_cast<off_t>(kSize)) return nullptr;
  if (pread(fd, mark, sizeof mark, 0) != static_cast<ssize_t>(sizeof mark) || std::memcmp(mark, kMark, sizeof mark) != 0) return nullptr;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return nullptr;
  void* base = map(own, kSize);
  if (base == nullptr) {
    close(own);
    return nullptr;
  }
  return std::shared_ptr<Arena>(new Arena(own, base, kSize));
}

const std::shared_ptr<Arena>& Arena::of_process() {
  static const auto& only = *new std::shared_ptr<Arena>(make(nullptr));
  return only;
}

Arena::~Arena() {
  munmap(base_, size_);
  close(fd_);
}

Arena::Head* Arena::head() const noexcept { return reinterpret_cast<Head*>(base_); }

std::uint64_t Arena::identity() const noexcept { return head()->identity; }

const CUmemPoolProps* Arena::props() const noexcept { return head()->has_props != 0 ? &head()->props : nullptr; }

bool Arena::contains(const void* where) const noexcept {
  const auto* byte = static_cast<const unsigned char*>(where);
  return byte >= base_ && byte < base_ + size_;
}

std::uint64_t Arena::offset_of(const void* where) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const unsigned char*>(where) - base_);
}

void* Arena::at(std::uint64_t offset, std::size_t size) const noexcept {
  return offset >= kHead && offset <= size_ && size <= size_ - offset ? base_ + offset : nullptr;
}

void* Arena::allocate(std::size_t size) {
  if (size > size_ - kHead) return nullptr;
  const std::size_t wanted = rounded(size);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < wanted) continue;
    const auto [offset, length] = *range;
    free_.erase(range);
    if (length > wanted) free_[offset + wanted] = length - wanted;
    return base_ + offset;
  }
  if (wanted > size_ - used_) return nullptr;
  unsigned char* where = base_ + used_;
  used_ += wanted;
  return where;
}

void Arena::release(void* where, std::size_t size) {
  std::size_t offset = offset_of(where), length = rounded(size);
  // What is given out is zeroed: by hand, or by handing the pages back.
  if (length < kHole || fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(length)) != 0)
    std::memset(where, 0, length);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && offset + length == after->first) {
    length += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      length += before->second;
      free_.erase(before);
    }
  }
  if (offset + length == used_)
    used_ = offset;
  else
    free_[offset] = length;
}

int Arena::take_slot(std::uint64_t id) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    SharedSlot& slot = head()->slots[i];
    std::uint64_t none = 0;
    if (!slot.id.compare_exchange_strong(none, id)) continue;
    slot.recorded = slot.completed = 0;
    return static_cast<int>(i);
  }
  return -1;
}

SharedSlot* Arena::slot(int index) const noexcept {
  return index >= 0 && static_cast<std::size_t>(index) < kSlots ? &head()->slots[index] : nullptr;
}

}  // namespace cufault::sim

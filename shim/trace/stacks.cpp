// SPDX-License-Identifier: Apache-2.0
// The table of stacks that are on file, and the file.
#include "stacks.h"

#include <stdio.h>  // rename
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files.h"
#include "process/memory.h"

namespace cufault::trace {
namespace {

int count_loads(dl_phdr_info *module, std::size_t, void *given) {
  *static_cast<std::uint64_t *>(given) = module->dlpi_adds;
  return 1;
}

std::uint64_t loads_so_far() noexcept {
  std::uint64_t loads = 0;
  ::dl_iterate_phdr(count_loads, &loads);
  return loads;
}

}  // namespace

bool stack_store::start(const char *folder, process::message &why) noexcept {
  folder_ = folder;
  pid_ = static_cast<std::uint32_t>(::getpid());
  head_ = nullptr;
  last_id_ = 0;
  used_slots_ = 0;
  loads_ = 0;
  if (table_ == nullptr) {
    table_ = process::map_array<slot>(slots);
  } else {
    std::memset(static_cast<void *>(table_), 0, slots * sizeof(slot));
  }
  path name;
  name << folder << "/stacks." << pid_;
  cufault_stacks_header head{};
  std::memcpy(head.magic, CUFAULT_STACKS_MAGIC, sizeof head.magic);
  head.version = CUFAULT_TRACE_VERSION;
  head.header_size = sizeof head;
  new_file file(folder, pid_, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  const bool written = table_ != nullptr && file.ok() && file.write(&head, sizeof head) && file.reserve(chunk);
  if (!written || (!file.publish(name.c_str()) && file.error() != EEXIST) || !continue_file()) {
    why << "no stacks can be written to " << folder << ": " << std::strerror(file.error() != 0 ? file.error() : errno);
    return false;
  }
  copy_maps();
  return true;
}

// By name each time: a descriptor that is kept may be closed by the program and become another file's.
int stack_store::open_file() const noexcept {
  path name;
  name << folder_ << "/stacks." << pid_;
  return ::open(name.c_str(), O_RDWR | O_CLOEXEC);
}

bool stack_store::reserve_more() noexcept {
  const int file = open_file();
  const bool reserved = file >= 0 && ::posix_fallocate(file, static_cast<off_t>(reserved_), chunk) == 0;
  if (file >= 0) ::close(file);
  if (reserved) reserved_ += chunk;
  return reserved;
}

// Maps the file, be it ours or that of an earlier program of this process, and goes to its end.
bool stack_store::continue_file() noexcept {
  const int file = open_file();
  const off_t size = file < 0 ? 0 : ::lseek(file, 0, SEEK_END);
  // Address space for all of it; what lies beyond the file's end is touched only once it is reserved.
  void *const at = file < 0 ? MAP_FAILED : ::mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  if (at == MAP_FAILED || size < static_cast<off_t>(sizeof(cufault_stacks_header))) return false;
  reserved_ = static_cast<std::size_t>(size);
  auto *const head = static_cast<cufault_stacks_header *>(at);
  const auto *each = static_cast<const char *>(at) + sizeof *head;
  const char *const end = each + (head->used <= reserved_ - sizeof *head ? head->used : 0);
  while (each < end) {
    cufault_stack_entry entry;
    std::memcpy(&entry, each, sizeof entry);
    last_id_ = entry.id;
    each += sizeof entry + std::size_t{entry.depth} * sizeof(std::uint64_t);
  }
  head_ = head;
  return true;
}

stack_store::slot &stack_store::place_of(std::uint64_t hash) noexcept {
  for (std::size_t i = hash;; ++i) {
    slot &place = table_[i % slots];
    const std::uint64_t there = place.hash.load(std::memory_order_acquire);
    if (there == hash || there == 0) return place;
  }
}

std::uint32_t stack_store::id_of(const std::uintptr_t *addresses, std::size_t depth, std::uint64_t hash) noexcept {
  const slot &known = place_of(hash);
  if (known.hash.load(std::memory_order_acquire) == hash) return known.id.load(std::memory_order_relaxed);
  const int saved_errno = errno;
  const process::hold held(lock_);
  slot &place = place_of(hash);
  if (place.hash.load(std::memory_order_relaxed) == hash) return place.id.load(std::memory_order_relaxed);
  std::uint32_t id = 0;
  if (used_slots_ < slots / 4 * 3) {
    id = append(addresses, depth, hash);
    ++used_slots_;
    place.id.store(id, std::memory_order_relaxed);
    place.hash.store(hash, std::memory_order_release);
    copy_maps();
  }
  if (id == 0) std::atomic_ref<std::uint64_t>(head_->lost).fetch_add(1, std::memory_order_relaxed);
  errno = saved_errno;
  return id;
}

std::uint32_t stack_store::append(const std::uintptr_t *addresses, std::size_t depth, std::uint64_t hash) noexcept {
  const std::size_t at = sizeof *head_ + head_->used;
  const std::size_t size = sizeof(cufault_stack_entry) + depth * sizeof(std::uint64_t);
  if (at + size > most_bytes) return 0;
  if (at + size > reserved_ && !reserve_more()) return 0;
  char *const to = reinterpret_cast<char *>(head_) + at;
  const cufault_stack_entry entry{last_id_ + 1, static_cast<std::uint32_t>(depth), hash};
  std::memcpy(to, &entry, sizeof entry);
  for (std::size_t i = 0; i < depth; ++i) {
    const std::uint64_t address = addresses[i];
    std::memcpy(to + sizeof entry + i * sizeof address, &address, sizeof address);
  }
  std::atomic_ref<std::uint64_t>(head_->used).store(head_->used + size, std::memory_order_release);
  return ++last_id_;
}

// Again whenever a module was loaded since: a process that is killed has left what its last stacks need.
void stack_store::copy_maps() noexcept {
  const std::uint64_t loads = loads_so_far();
  if (loads == loads_) return;
  loads_ = loads;
  path name, aside;
  name << folder_ << "/maps." << pid_;
  aside << folder_ << "/.maps." << pid_;
  const int from = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const int to = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool whole = from >= 0 && to >= 0;
  char buffer[4096];
  while (whole) {
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got <= 0) break;
    whole = ::write(to, buffer, static_cast<std::size_t>(got)) == got;
  }
  if (from >= 0) ::close(from);
  if (to >= 0) ::close(to);
  if (whole) ::rename(aside.c_str(), name.c_str());
}

}  // namespace cufault::trace

// SPDX-License-Identifier: Apache-2.0
// The two tables of modules.
#include "modules.h"

#include <unistd.h>

#include <cstring>

#include "process/memory.h"

namespace cufault::libc {
namespace {

const char* basename_of(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

void copy_name(char (&to)[CUFAULT_LIBC_NAME], const char* from) noexcept {
  std::strncpy(to, from, sizeof to - 1);
  to[sizeof to - 1] = '\0';
}

}  // namespace

bool module_table::grow() noexcept {
  const std::size_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
  auto* const ranges = process::map_array<range>(capacity);
  auto* const modules = process::map_array<module>(capacity);
  if (ranges == nullptr || modules == nullptr) {
    if (ranges != nullptr) process::unmap_pages(ranges, capacity * sizeof(range));
    if (modules != nullptr) process::unmap_pages(modules, capacity * sizeof(module));
    return false;
  }
  if (capacity_ != 0) {
    std::memcpy(ranges, ranges_, count_ * sizeof(range));
    std::memcpy(modules, modules_, count_ * sizeof(module));
    process::unmap_pages(ranges_, capacity_ * sizeof(range));
    process::unmap_pages(modules_, capacity_ * sizeof(module));
  }
  ranges_ = ranges;
  modules_ = modules;
  capacity_ = capacity;
  return true;
}

bool module_table::add(const dl_phdr_info& object, const plan& plan, const char* program) noexcept {
  if (count_ == capacity_ && !grow()) return false;
  range all{UINTPTR_MAX, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (begin < all.begin) all.begin = begin;
    if (begin + part.p_memsz > all.end) all.end = begin + part.p_memsz;
  }
  const bool named = object.dlpi_name != nullptr && *object.dlpi_name != '\0';
  const char* const name = named ? basename_of(object.dlpi_name) : program;
  module& added = modules_[count_];
  added.rules = plan.rules_for_module(name);
  added.base = object.dlpi_addr;
  copy_name(added.name, name);
  ranges_[count_++] = all;
  return true;
}

const module* module_table::find(std::uintptr_t address) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (address - ranges_[i].begin < ranges_[i].end - ranges_[i].begin) return &modules_[i];
  }
  return nullptr;
}

struct modules::visit {
  modules* all;
  std::uintptr_t address;
  module* found;
  bool first = true;
  bool building = false;
  bool memory = true;
};

int modules::add_permanent(dl_phdr_info* object, std::size_t, void* data) {
  auto& visit = *static_cast<modules::visit*>(data);
  visit.memory = visit.all->permanent_.add(*object, *visit.all->plan_, visit.all->program_);
  return visit.memory ? 0 : 1;
}

bool modules::start(const plan& plan) noexcept {
  plan_ = &plan;
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  copy_name(program_, basename_of(path));
  visit all{this, 0, nullptr};
  ::dl_iterate_phdr(add_permanent, &all);
  return all.memory;
}

int modules::look(dl_phdr_info* object, std::size_t, void* data) {
  auto& visit = *static_cast<modules::visit*>(data);
  static_cast<void>(visit.all->turn_.load(std::memory_order_acquire));
  const bool done = look_at(*object, visit);
  visit.all->turn_.store(true, std::memory_order_release);
  return done ? 1 : 0;
}

bool modules::look_at(const dl_phdr_info& object, visit& visit) {
  modules& all = *visit.all;
  // The loader holds its lock from the first object to the last, so nobody ever sees half a table.
  if (visit.first) {
    visit.first = false;
    visit.building = !all.valid_ || all.adds_ != object.dlpi_adds || all.subs_ != object.dlpi_subs;
    if (visit.building) {
      all.valid_ = true;
      all.adds_ = object.dlpi_adds;
      all.subs_ = object.dlpi_subs;
      all.current_.clear();
    }
  }
  if (visit.building) {
    visit.memory = all.current_.add(object, *all.plan_, all.program_);
    if (!visit.memory) {
      all.valid_ = false;
      return true;
    }
  }
  // Copied here: once the lock is free the table may move.
  const module* const found = all.current_.find(visit.address);
  if (found != nullptr) *visit.found = *found;
  return !visit.building;
}

bool modules::find(const void* address, module& found) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  if (const module* const known = permanent_.find(wanted)) {
    found = *known;
    return true;
  }
  found = module{plan_->rules_for_any_caller(), 0, {}};
  visit all{this, wanted, &found};
  ::dl_iterate_phdr(look, &all);
  return all.memory;
}

}  // namespace cufault::libc

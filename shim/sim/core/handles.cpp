// SPDX-License-Identifier: Apache-2.0
// The handle table: slots in one reserved range.
#include "core/handles.h"

#include <sys/mman.h>

#include <new>

namespace cufault::sim {

const char* name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::context: return "context";
    case Kind::green_context: return "green context";
    case Kind::resource_descriptor: return "resource descriptor";
    case Kind::stream: return "stream";
    case Kind::event: return "event";
    case Kind::pool: return "memory pool";
    case Kind::vmm_allocation: return "memory allocation handle";
    case Kind::array: return "array";
    case Kind::mipmapped_array: return "mipmapped array";
    case Kind::texture: return "texture object";
    case Kind::surface: return "surface object";
    case Kind::texture_reference: return "texture reference";
    case Kind::module: return "module";
    case Kind::library: return "library";
    case Kind::function: return "function";
    case Kind::kernel: return "kernel";
    case Kind::link: return "link state";
    case Kind::graph: return "graph";
    case Kind::graph_node: return "graph node";
    case Kind::graph_exec: return "executable graph";
    case Kind::conditional: return "conditional handle";
    case Kind::user_object: return "user object";
    case Kind::external_memory: return "external memory";
    case Kind::external_semaphore: return "external semaphore";
    case Kind::async_callback: return "asynchronous notification";
    case Kind::logs_callback: return "log callback";
  }
  return "?";
}

HandleTable::HandleTable() {
  void* range = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  slots_ = static_cast<Slot*>(range);
}

HandleTable::Slot* HandleTable::slot_of(const void* handle) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  const auto first = reinterpret_cast<std::uintptr_t>(slots_);
  if (address < first || address >= first + used_ * sizeof(Slot) || (address - first) % sizeof(Slot) != 0) return nullptr;
  return slots_ + (address - first) / sizeof(Slot);
}

void* HandleTable::insert(Kind kind, std::shared_ptr<Object> object) {
  Slot* slot = nullptr;
  if (destroyed_.size() > kRemembered) {
    slot = slots_ + destroyed_.front();
    destroyed_.pop_front();
  } else {
    if (used_ == kSlots) throw std::bad_alloc();
    slot = new (slots_ + used_) Slot{};
    ++used_;
  }
  slot->object = std::move(object);
  slot->kind = kind;
  slot->state = HandleState::live;
  return slot;
}

Found HandleTable::find(const void* handle) const noexcept {
  const Slot* slot = slot_of(handle);
  if (slot == nullptr) return {};
  return {slot->state, slot->kind, slot->object.get()};
}

std::shared_ptr<Object> HandleTable::share(const void* handle) const noexcept {
  const Slot* slot = slot_of(handle);
  return slot != nullptr && slot->state == HandleState::live ? slot->object : nullptr;
}

void HandleTable::keep(const void* handle, std::shared_ptr<Object> object) noexcept {
  Slot* slot = slot_of(handle);
  if (slot != nullptr && slot->state == HandleState::destroyed) slot->object = std::move(object);
}

std::shared_ptr<Object> HandleTable::kept(const void* handle) const noexcept {
  const Slot* slot = slot_of(handle);
  return slot != nullptr && slot->state == HandleState::destroyed ? slot->object : nullptr;
}

std::shared_ptr<Object> HandleTable::remove(const void* handle) noexcept {
  Slot* slot = slot_of(handle);
  if (slot == nullptr || slot->state != HandleState::live) return nullptr;
  slot->state = HandleState::destroyed;
  destroyed_.push_back(static_cast<std::uint32_t>(slot - slots_));
  return std::move(slot->object);
}

}  // namespace cufault::sim

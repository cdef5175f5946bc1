// SPDX-License-Identifier: Apache-2.0
// The one place that knows which handles exist, which existed, and which never did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace cufault::sim {

enum class Kind : std::uint8_t {
  none,
  context,
  green_context,
  resource_descriptor,
  stream,
  event,
  pool,
  vmm_allocation,
  array,
  mipmapped_array,
  texture,
  surface,
  texture_reference,
  module,
  library,
  function,
  kernel,
  link,
  graph,
  graph_node,
  graph_exec,
  conditional,
  user_object,
  external_memory,
  external_semaphore,
  async_callback,
  logs_callback,
};

[[nodiscard]] const char* name_of(Kind kind) noexcept;

struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

enum class HandleState : std::uint8_t { unknown, live, destroyed };

struct Found {
  HandleState state = HandleState::unknown;
  Kind kind = Kind::none;
  Object* object = nullptr;
};

// Handles are addresses of slots in a reserved range of memory, so any value can be checked without reading what it
// points to. A destroyed handle's slot is used again only after kRemembered others were destroyed. Caller locks.
class HandleTable {
 public:
  static constexpr std::size_t kRemembered = 1u << 15;

  HandleTable();
  // Never unmapped: calls arrive until the last instruction of the process.
  ~HandleTable() = delete;

  [[nodiscard]] void* insert(Kind kind, std::shared_ptr<Object> object);
  [[nodiscard]] Found find(const void* handle) const noexcept;
  // The owner of a live handle's object; null if the handle is not live.
  [[nodiscard]] std::shared_ptr<Object> share(const void* handle) const noexcept;
  // Marks a live handle destroyed and hands its object over. Null if it was not live.
  std::shared_ptr<Object> remove(const void* handle) noexcept;
  // Keeps the object of a destroyed handle findable until the slot is used again.
  void keep(const void* handle, std::shared_ptr<Object> object) noexcept;
  // The object of a destroyed handle that was kept; null otherwise.
  [[nodiscard]] std::shared_ptr<Object> kept(const void* handle) const noexcept;
  // Calls visit(handle, kind, object) for every live handle in order of creation of their slots.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < used_; ++i)
      if (slots_[i].state == HandleState::live) visit(static_cast<void*>(&slots_[i]), slots_[i].kind, slots_[i].object);
  }

 private:
  struct alignas(32) Slot {
    std::shared_ptr<Object> object;
    Kind kind;
    HandleState state;
  };
  static constexpr std::size_t kSlots = 1u << 24;

  [[nodiscard]] Slot* slot_of(const void* handle) const noexcept;

  Slot* slots_;
  std::size_t used_ = 0;
  std::deque<std::uint32_t> destroyed_;
};

}  // namespace cufault::sim

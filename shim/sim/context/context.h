// SPDX-License-Identifier: Apache-2.0
// Contexts: plain, primary and green.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "context/owned.h"
#include "core/api.h"
#include "core/handles.h"
#include "stream/engine.h"

namespace cufault::sim {

class Call;
class Driver;
struct Device;
struct Stream;

inline constexpr unsigned kContextFlags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                          CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS;

struct Context : Object, std::enable_shared_from_this<Context> {
  static constexpr Kind kKind = Kind::context;

  Context(Device& on, unsigned wanted_flags, bool is_primary, std::uint64_t number);

  [[nodiscard]] bool alive() const noexcept { return active; }
  // A new life: limits and configuration as after creation.
  void activate(unsigned wanted_flags);
  // The end of this life. Streams, events and memory made in it answer CONTEXT_IS_DESTROYED from now on.
  void end(Driver& driver);

  [[nodiscard]] std::shared_ptr<Stream> legacy_stream();
  [[nodiscard]] std::shared_ptr<Stream> thread_stream(std::uint64_t thread);

  // The context whose memory and modules are used: a green context shares those of the primary context.
  [[nodiscard]] std::shared_ptr<Context> base() { return parent != nullptr ? parent : shared_from_this(); }

  [[nodiscard]] CUcontext handle() const noexcept { return static_cast<CUcontext>(self); }

  Device& device;
  const bool primary;
  const std::uint64_t id;
  void* self = nullptr;
  // Of a green context: what it is a part of, its own handle, and how much of the device it has.
  std::shared_ptr<Context> parent;
  void* green = nullptr;
  unsigned multiprocessors = 0;
  bool active = false;
  unsigned life = 0;
  unsigned flags = 0;
  unsigned uses_after_destroy = 0;
  unsigned attached = 0;  // cuCtxAttach beyond the creation
  std::array<std::size_t, CU_LIMIT_MAX> limits{};
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
  CUsharedconfig bank_size = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  std::set<std::uint64_t> peers;  // ids of contexts whose memory it may use
  std::vector<Point> waits;  // what all later work of the context waits for (cuCtxWaitEvent)

 private:
  std::shared_ptr<Stream> legacy_;
  std::map<std::uint64_t, std::shared_ptr<Stream>> per_thread_;
};

// The context a handle names, or the current one for null. Refuses with `otherwise` if it is none.
[[nodiscard]] std::shared_ptr<Context> context_or_current(const Call& call, CUcontext handle);
// Waits until no stream of the context has work left.
void drain(Call& call, const Context& context);
// Ends the context: waits for its work, ends its life.
void destroy_context(Call& call, const std::shared_ptr<Context>& context);

}  // namespace cufault::sim

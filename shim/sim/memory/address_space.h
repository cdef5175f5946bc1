// SPDX-License-Identifier: Apache-2.0
// Which addresses the driver knows, and the bytes behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

class Arena;
struct Context;
struct Device;
struct Pool;
struct SharedSlot;
struct VmmAllocation;

enum class MemoryKind : std::uint8_t {
  device,      // cuMemAlloc and its like
  pinned,      // cuMemAllocHost, cuMemHostAlloc
  registered,  // cuMemHostRegister
  managed,     // cuMemAllocManaged
  pool,        // cuMemAllocAsync, cuMemAllocFromPoolAsync
  graph,       // of a graph's allocation node
  global,      // a module's variable
  mapped,      // cuMemMap
  imported,    // cuIpcOpenMemHandle
};

// Real bytes. Those who still use them hold them, whatever the application has freed.
struct Backing {
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  ~Backing();

  void* where = nullptr;
  std::size_t size = 0;
  bool mapped = false;  // by mmap; else from the heap, or the arena if there is one
  std::shared_ptr<Arena> arena;
};
// Zeroed memory, aligned to 512 bytes at least; refuses with OUT_OF_MEMORY.
[[nodiscard]] std::shared_ptr<Backing> make_backing(std::size_t size);
// The same from an arena that other processes can map; from elsewhere if there is none.
[[nodiscard]] std::shared_ptr<Backing> make_backing(std::size_t size, const std::shared_ptr<Arena>& arena);

// What cuMemAdvise and cuMemPrefetchAsync said about managed memory. Location type 0: nothing.
struct ManagedAdvice {
  bool read_mostly = false;
  CUmemLocation preferred{};
  CUmemLocation prefetched{};
  std::set<int> accessed_by;
};

// A range of addresses with memory behind it. Device addresses are addresses of this process.
struct Allocation {
  Allocation(CUdeviceptr where, std::size_t length, MemoryKind what) : base(where), size(length), kind(what) {}
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();

  [[nodiscard]] unsigned char* bytes(CUdeviceptr address) const { return reinterpret_cast<unsigned char*>(address); }
  [[nodiscard]] bool host_visible() const {
    return kind == MemoryKind::pinned || kind == MemoryKind::registered || kind == MemoryKind::managed;
  }

  const CUdeviceptr base;
  const std::size_t size;
  const MemoryKind kind;
  std::uint64_t id = 0;
  std::shared_ptr<Context> context;  // null: belongs to no context
  unsigned life = 0;
  Device* device = nullptr;
  unsigned host_flags = 0;
  bool sync_memops = false;
  std::shared_ptr<Pool> pool;
  // Where other processes see that it exists, once its handle was asked for; the arena of another process's memory.
  SharedSlot* slot = nullptr;
  int slot_index = -1;
  std::shared_ptr<Arena> foreign;
  Device* graph_device = nullptr;    // where memory of a graph is counted
  std::uint64_t charged = 0;         // to the device's memory
  std::shared_ptr<Backing> backing;  // null: the application's own memory (registered)
  std::shared_ptr<VmmAllocation> physical;
  std::size_t physical_offset = 0;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ManagedAdvice advice;
};

// Guarded by the driver's lock.
class AddressSpace {
 public:
  // Makes memory of a device; refuses with OUT_OF_MEMORY.
  [[nodiscard]] std::shared_ptr<Allocation> make(Device& device, const std::shared_ptr<Context>& context, std::size_t size,
                                                 MemoryKind kind);
  // The same in host memory, charged to nobody.
  [[nodiscard]] static std::shared_ptr<Allocation> make_host(std::size_t size, MemoryKind kind);
  // In an arena, charged to nobody.
  [[nodiscard]] static std::shared_ptr<Allocation> make_on(const std::shared_ptr<Arena>& arena, std::size_t size, MemoryKind kind);
  void add(std::shared_ptr<Allocation> allocation);
  // Forgets a range. The bytes live as long as somebody holds the allocation.
  std::shared_ptr<Allocation> remove(CUdeviceptr base);

  // The allocation that an address lies in; null if none.
  [[nodiscard]] std::shared_ptr<Allocation> find(CUdeviceptr address) const;
  // The allocation that begins at an address; null if none.
  [[nodiscard]] std::shared_ptr<Allocation> at(CUdeviceptr base) const;
  // Whether any allocation touches the range.
  [[nodiscard]] bool overlaps(CUdeviceptr base, std::size_t size) const;

  // Memory of a context that ends.
  void drop_of(const Context& context);

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [base, allocation] : ranges_) visit(*allocation);
  }

 private:
  std::map<CUdeviceptr, std::shared_ptr<Allocation>> ranges_;
};

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// Entry points: memory, events and pools shared with other processes (recorded: ipc_*).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "context/context.h"
#include "core/call.h"
#include "device/device.h"
#include "event/event.h"
#include "graph/capture.h"
#include "memory/address_space.h"
#include "memory/arena.h"
#include "memory/pool.h"

using namespace cufault::sim;

namespace {

// What the 64 opaque bytes of a handle hold.
struct Ticket {
  char mark[8];
  std::int32_t pid;
  std::int32_t fd;
  std::uint64_t arena;
  std::uint64_t id;
  std::uint64_t offset;
  std::uint64_t size;
  std::int32_t slot;
  std::uint32_t flags;
};
static_assert(sizeof(Ticket) <= CU_IPC_HANDLE_SIZE && sizeof(Ticket) <= sizeof(CUmemPoolPtrExportData));

constexpr char kMemory[8] = {'C', 'U', 'F', 'I', 'P', 'C', 'M', '1'};
constexpr char kEvent[8] = {'C', 'U', 'F', 'I', 'P', 'C', 'E', '1'};
constexpr char kPointer[8] = {'C', 'U', 'F', 'I', 'P', 'C', 'P', '1'};

template <class Handle>
Ticket ticket_of(const Handle& handle) {
  Ticket ticket;
  std::memcpy(&ticket, &handle, sizeof ticket);
  return ticket;
}

template <class Handle>
void write_ticket(Handle* handle, const Ticket& ticket) {
  std::memset(static_cast<void*>(handle), 0, sizeof *handle);
  std::memcpy(static_cast<void*>(handle), &ticket, sizeof ticket);
}

bool marked(const Ticket& ticket, const char (&mark)[8]) { return std::memcmp(ticket.mark, mark, sizeof mark) == 0; }

// Arenas of other processes that are open here, by identity. Guarded by the driver's lock; never destroyed.
std::shared_ptr<Arena> arena_of(const Ticket& ticket) {
  static auto& open = *new std::map<std::uint64_t, std::weak_ptr<Arena>>;
  if (auto known = open[ticket.arena].lock()) return known;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", ticket.pid, ticket.fd);
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  auto arena = Arena::open(fd);
  close(fd);
  if (arena == nullptr || arena->identity() != ticket.arena) return nullptr;
  open[ticket.arena] = arena;
  return arena;
}

// Memory of another process that is open here, and how often.
struct Opened {
  CUdeviceptr base = 0;
  unsigned count = 0;
  std::uint64_t id = 0;
  unsigned life = 0;
};
std::map<std::uint64_t, Opened>& opened() {
  static auto& all = *new std::map<std::uint64_t, Opened>;
  return all;
}

std::shared_ptr<Pool> importable(const Call& call, CUmemoryPool handle) { return call.use<Pool>(handle, CUDA_ERROR_INVALID_VALUE); }

}  // namespace

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr);
    const auto allocation = call.driver.memory.find(address);
    require(allocation != nullptr && allocation->kind == MemoryKind::device);
    const auto& arena = allocation->backing->arena;
    if (arena == nullptr) call.unmodelled("sharing of memory where files in memory are not allowed");
    if (allocation->slot == nullptr) {
      allocation->slot_index = arena->take_slot(allocation->id);
      require(allocation->slot_index >= 0, CUDA_ERROR_OUT_OF_MEMORY);
      allocation->slot = arena->slot(allocation->slot_index);
    }
    Ticket ticket{};
    std::memcpy(ticket.mark, kMemory, sizeof kMemory);
    ticket.pid = getpid();
    ticket.fd = arena->fd();
    ticket.arena = arena->identity();
    ticket.id = allocation->id;
    ticket.offset = arena->offset_of(allocation->backing->where);
    ticket.size = allocation->size;
    ticket.slot = allocation->slot_index;
    write_ticket(out, ticket);
  });
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto context = call.current()->base();
    require(out != nullptr && (flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != 0);
    const Ticket ticket = ticket_of(handle);
    require(marked(ticket, kMemory));
    require(ticket.pid != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    const auto arena = arena_of(ticket);
    require(arena != nullptr && arena->slot(ticket.slot) != nullptr && arena->slot(ticket.slot)->id == ticket.id);
    Opened& open = opened()[ticket.arena ^ ticket.offset];
    if (open.count != 0 && open.id == ticket.id && call.driver.memory.at(open.base) != nullptr) {
      ++open.count;
      *out = open.base;
      return;
    }
    void* where = arena->at(ticket.offset, ticket.size);
    require(where != nullptr);
    auto allocation = std::make_shared<Allocation>(reinterpret_cast<CUdeviceptr>(where), ticket.size, MemoryKind::imported);
    allocation->context = context;
    allocation->life = context->life;
    allocation->foreign = arena;
    open = {allocation->base, 1, ticket.id, context->life};
    *out = allocation->base;
    call.driver.memory.add(std::move(allocation));
  });
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr address) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    const auto allocation = call.driver.memory.at(address);
    require(allocation != nullptr && allocation->kind == MemoryKind::imported);
    const auto entry = std::find_if(opened().begin(), opened().end(), [&](const auto& item) { return item.second.base == address; });
    require(entry != opened().end());
    if (--entry->second.count != 0) return;
    opened().erase(entry);
    call.driver.memory.remove(address);
  });
}

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle* out, CUevent handle) {
  return api(__func__, kFaults, [&](Call& call) {
    require(out != nullptr && handle != nullptr);
    const auto event = call.use<Event>(handle);
    event->require_context();
    require((event->flags & CU_EVENT_INTERPROCESS) != 0, CUDA_ERROR_INVALID_HANDLE);
    const auto& arena = Arena::of_process();
    if (arena == nullptr) call.unmodelled("sharing of events where files in memory are not allowed");
    if (event->shared == nullptr) {
      const std::uint64_t id = call.driver.next_id();
      const int index = arena->take_slot(id);
      require(index >= 0, CUDA_ERROR_OUT_OF_MEMORY);
      event->share(arena, arena->slot(index), id, index, true);
    }
    Ticket ticket{};
    std::memcpy(ticket.mark, kEvent, sizeof kEvent);
    ticket.pid = getpid();
    ticket.fd = arena->fd();
    ticket.arena = arena->identity();
    ticket.id = event->shared_id;
    ticket.slot = event->shared_index;
    ticket.flags = event->flags;
    write_ticket(out, ticket);
  });
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent* out, CUipcEventHandle handle) {
  return api(__func__, kFaults, [&](Call& call) {
    const auto& context = call.current();
    require(out != nullptr);
    const Ticket ticket = ticket_of(handle);
    require(marked(ticket, kEvent), CUDA_ERROR_MAP_FAILED);
    require(ticket.pid != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    const auto arena = arena_of(ticket);
    require(arena != nullptr && arena->slot(ticket.slot) != nullptr && arena->slot(ticket.slot)->id == ticket.id, CUDA_ERROR_MAP_FAILED);
    auto event = std::make_shared<Event>(context, ticket.flags);
    event->share(arena, arena->slot(ticket.slot), ticket.id, ticket.slot, false);
    event->self = call.driver.handles->insert(Kind::event, event);
    *out = static_cast<CUevent>(event->self);
  });
}

CUresult CUDAAPI cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle, CUmemAllocationHandleType type, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && flags == 0);
    const auto pool = importable(call, handle);
    require(!pool->imported && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    require((pool->props.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0);
    if (pool->arena == nullptr) call.unmodelled("sharing of pools where files in memory are not allowed");
    const int fd = fcntl(pool->arena->fd(), F_DUPFD_CLOEXEC, 0);
    require(fd >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *static_cast<int*>(out) = fd;
  });
}

CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* shared, CUmemAllocationHandleType type, unsigned long long flags) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && flags == 0);
    require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
    auto arena = Arena::open(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)));
    require(arena != nullptr && arena->props() != nullptr, CUDA_ERROR_UNKNOWN);
    const CUmemPoolProps& props = *arena->props();
    const bool on_device = props.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    const auto pool = Pool::make(call.driver.device(on_device ? props.location.id : 0), props);
    pool->imported = true;
    pool->arena = std::move(arena);
    *out = pool->handle();
  });
}

CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr);
    const auto allocation = call.driver.memory.at(address);
    require(allocation != nullptr && allocation->pool != nullptr && !allocation->pool->imported);
    const auto& arena = allocation->pool->arena;
    require(arena != nullptr);
    Ticket ticket{};
    std::memcpy(ticket.mark, kPointer, sizeof kPointer);
    ticket.arena = arena->identity();
    ticket.offset = arena->offset_of(allocation->backing->where);
    ticket.size = allocation->size;
    write_ticket(out, ticket);
  });
}

CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
  return api(__func__, kPlain, [&](Call& call) {
    require(out != nullptr && data != nullptr);
    const auto pool = importable(call, handle);
    const Ticket ticket = ticket_of(*data);
    require(marked(ticket, kPointer) && pool->imported && pool->arena->identity() == ticket.arena);
    void* where = pool->arena->at(ticket.offset, ticket.size);
    require(where != nullptr);
    const auto base = reinterpret_cast<CUdeviceptr>(where);
    if (call.driver.memory.at(base) == nullptr) {
      auto allocation = std::make_shared<Allocation>(base, ticket.size, MemoryKind::pool);
      allocation->pool = pool;
      allocation->foreign = pool->arena;
      call.driver.memory.add(std::move(allocation));
    }
    *out = base;
  });
}

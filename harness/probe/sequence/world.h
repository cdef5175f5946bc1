// SPDX-License-Identifier: Apache-2.0
// What a random sequence has made so far, and the dice.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/recorder.h"

namespace probe::sequence {

// xorshift64. The constants belong to the recordings.
class Dice {
 public:
  explicit Dice(unsigned seed);
  // 0 .. sides - 1
  unsigned roll(unsigned sides);
  bool chance(unsigned percent) { return roll(100) < percent; }

 private:
  std::uint64_t state_;
};

template <class Handle>
struct Object {
  Handle handle{};
  int id = 0;       // 0: the null handle
  int context = 0;  // the id of the context that was current when it was made
};

struct Node {
  CUgraphNode handle = nullptr;
  int id = 0;
  int graph = 0;
};

class World {
 public:
  explicit World(unsigned seed) : dice(seed) {}

  template <class Handle>
  using Pool = std::vector<Object<Handle>>;

  // Any of them, or none if there are none.
  template <class Handle>
  Object<Handle>* any(Pool<Handle>& pool) {
    return pool.empty() ? nullptr : &pool[dice.roll(static_cast<unsigned>(pool.size()))];
  }
  template <class Handle>
  Object<Handle> any_or_null(Pool<Handle>& pool, unsigned percent_null) {
    const Object<Handle>* one = dice.chance(percent_null) ? nullptr : any(pool);
    return one != nullptr ? *one : Object<Handle>{};
  }
  // Answers the id that it gets.
  template <class Handle>
  int keep(Pool<Handle>& pool, Handle handle) {
    pool.push_back({handle, next_id_, current()});
    return next_id_++;
  }
  void keep_memory(Pool<CUdeviceptr>& pool, CUdeviceptr p, std::size_t size) { sizes_[keep(pool, p)] = size; }
  void keep_context(CUcontext c) { contexts.push_back({c, next_id_++, 0}); }
  void keep_node(CUgraphNode n, int graph) { nodes.push_back({n, next_id_++, graph}); }

  template <class Handle>
  static void drop(Pool<Handle>& pool, int id) {
    std::erase_if(pool, [id](const auto& one) { return one.id == id; });
  }
  // Forgets what was made while a context was current that is now destroyed.
  void drop_all_of(int context);

  [[nodiscard]] std::size_t size_of(int id) const;
  // The id of the current context: 0 none, -1 the driver would not say, -2 not one of ours.
  [[nodiscard]] int current() const;
  [[nodiscard]] int id_of(CUcontext handle) const;

  Dice dice;
  Pool<CUcontext> contexts;  // the first is the primary one
  Pool<CUstream> streams;
  Pool<CUevent> events;
  Pool<CUdeviceptr> plain_memory;
  Pool<CUdeviceptr> async_memory;
  Pool<void*> host_memory;
  Pool<CUmemoryPool> pools;
  Pool<CUgraph> graphs;
  Pool<CUgraphExec> execs;
  Pool<CUmodule> modules;
  std::vector<Node> nodes;

 private:
  int next_id_ = 1;
  std::map<int, std::size_t> sizes_;
};

// A row. The call is made before; `extra` follows the answer. True if it succeeded.
bool row(const std::string& label, CUresult result, const std::string& extra = "");

// "s3", or "null".
[[nodiscard]] std::string name(const char* kind, int id);

using Step = void (*)(World&);

// By subject; each step makes one call, or a few that belong together, or none.
namespace steps {
void create_context(World&);
void set_current(World&);
void push_current(World&);
void pop_current(World&);
void current_device(World&);
void synchronize_context(World&);
void primary_state(World&);
void context_flags(World&);
void destroy_context(World&);
void create_stream(World&);
void create_stream_with_priority(World&);
void destroy_stream(World&);
void stream_flags(World&);
void stream_context(World&);
void synchronize_stream(World&);
void create_event(World&);
void record_event(World&);
void synchronize_event(World&);
void elapsed_time(World&);
void wait_event(World&);
void destroy_event(World&);
void allocate(World&);
void free_memory(World&);
void address_range(World&);
void copy_to_device(World&);
void set_memory(World&);
void allocate_async(World&);
void free_async(World&);
void allocate_host(World&);
void free_host(World&);
void create_pool(World&);
void allocate_from_pool(World&);
void pool_attribute(World&);
void create_graph(World&);
void add_node(World&);
void change_edge(World&);
void query_graph(World&);
void launch_graph(World&);
void destroy_in_graph(World&);
void use_module(World&);
void capture(World&);
}  // namespace steps

}  // namespace probe::sequence

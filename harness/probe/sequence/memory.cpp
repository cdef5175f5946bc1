// SPDX-License-Identifier: Apache-2.0
// Steps of random sequences: memory of every kind.
#include <vector>

#include "sequence/world.h"

namespace probe::sequence::steps {
namespace {

std::size_t any_size(World& w) {
  static constexpr std::size_t choices[] = {0, 1, 512, 4096, 70000};
  return choices[w.dice.roll(5)];
}

}  // namespace

void allocate(World& w) {
  CUdeviceptr p = 0;
  const std::size_t size = any_size(w);
  if (row("cuMemAlloc(" + std::to_string(size) + ")", cuMemAlloc(&p, size))) w.keep_memory(w.plain_memory, p, size);
}

void free_memory(World& w) {
  const auto m = w.any_or_null(w.plain_memory, 10);
  if (row("cuMemFree(" + name("m", m.id) + ")", cuMemFree(m.handle))) w.drop(w.plain_memory, m.id);
}

void address_range(World& w) {
  const auto* m = w.any(w.plain_memory);
  if (m == nullptr) return;
  std::size_t size = 0;
  CUdeviceptr base = 0;
  const CUresult result = cuMemGetAddressRange(&base, &size, m->handle);
  const std::string found = " " + std::to_string(size) + (base == m->handle ? " base" : " other");
  row("cuMemGetAddressRange(" + name("m", m->id) + ")", result, result == CUDA_SUCCESS ? found : "");
}

void copy_to_device(World& w) {
  const auto* m = w.any(w.plain_memory);
  if (m == nullptr) return;
  static const std::vector<char> source(80000);
  const std::size_t size = w.size_of(m->id);
  const std::size_t count = w.dice.roll(3) == 0 ? size + 1 : w.dice.roll(static_cast<unsigned>(size) + 1);
  const std::size_t offset = w.dice.roll(3) == 0 ? 1 : 0;
  row("cuMemcpyHtoD(" + name("m", m->id) + "+" + std::to_string(offset) + "," + std::to_string(count) + ")",
      cuMemcpyHtoD(m->handle + offset, source.data(), count));
}

void set_memory(World& w) {
  const auto* m = w.any(w.plain_memory);
  if (m == nullptr) return;
  const std::size_t offset = w.dice.roll(5);
  const std::size_t count = w.dice.roll(130);
  row("cuMemsetD32(" + name("m", m->id) + "+" + std::to_string(offset) + "," + std::to_string(count) + ")",
      cuMemsetD32(m->handle + offset, 7, count));
  row("sync", cuCtxSynchronize());
}

void allocate_async(World& w) {
  const auto s = w.any_or_null(w.streams, 20);
  CUdeviceptr p = 0;
  const std::size_t size = any_size(w);
  const std::string label = "cuMemAllocAsync(" + std::to_string(size) + "," + name("s", s.id) + ")";
  if (row(label, cuMemAllocAsync(&p, size, s.handle)) && p != 0) w.keep_memory(w.async_memory, p, size);
}

void free_async(World& w) {
  const auto s = w.any_or_null(w.streams, 20);
  const auto a = w.any_or_null(w.async_memory, 10);
  const std::string label = "cuMemFreeAsync(" + name("a", a.id) + "," + name("s", s.id) + ")";
  if (row(label, cuMemFreeAsync(a.handle, s.handle))) w.drop(w.async_memory, a.id);
}

void allocate_host(World& w) {
  void* h = nullptr;
  const std::size_t size = any_size(w);
  const std::string label = "cuMemAllocHost(" + std::to_string(size) + ")";
  if (row(label, cuMemAllocHost(&h, size)) && h != nullptr) w.keep(w.host_memory, h);
}

void free_host(World& w) {
  const auto h = w.any_or_null(w.host_memory, 10);
  if (row("cuMemFreeHost(" + name("h", h.id) + ")", cuMemFreeHost(h.handle))) w.drop(w.host_memory, h.id);
}

void create_pool(World& w) {
  CUmemPoolProps props{};
  props.allocType = w.dice.chance(90) ? CU_MEM_ALLOCATION_TYPE_PINNED : static_cast<CUmemAllocationType>(77);
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = w.dice.chance(90) ? 0 : 99;
  CUmemoryPool p = nullptr;
  if (w.pools.size() < 3 && row("cuMemPoolCreate", cuMemPoolCreate(&p, &props))) w.keep(w.pools, p);
}

void allocate_from_pool(World& w) {
  const auto p = w.any_or_null(w.pools, 10);
  const auto s = w.any_or_null(w.streams, 20);
  CUdeviceptr a = 0;
  const std::string label = "cuMemAllocFromPoolAsync(" + name("p", p.id) + "," + name("s", s.id) + ")";
  if (row(label, cuMemAllocFromPoolAsync(&a, 4096, p.handle, s.handle))) w.keep_memory(w.async_memory, a, 4096);
}

void pool_attribute(World& w) {
  const auto* p = w.any(w.pools);
  if (p == nullptr) return;
  cuuint64_t v = 0;
  cuCtxSynchronize();
  const unsigned attribute = 1 + w.dice.roll(9);
  row("cuMemPoolGetAttribute(" + name("p", p->id) + "," + std::to_string(attribute) + ")",
      cuMemPoolGetAttribute(p->handle, static_cast<CUmemPool_attribute>(attribute), &v));
}

}  // namespace probe::sequence::steps

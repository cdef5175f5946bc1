// SPDX-License-Identifier: Apache-2.0
// Which step comes how often, and the whole of one sequence.
#include "sequence/sequence.h"

#include "sequence/world.h"

namespace probe {
namespace {

using namespace sequence;
using namespace sequence::steps;

// A roll's number is the step: recordings depend on order and length.
constexpr Step by_roll[] = {
    create_context, set_current, set_current, push_current, pop_current, current_device, synchronize_context,
    primary_state, context_flags, destroy_context, create_stream, create_stream, create_stream_with_priority,
    destroy_stream, stream_flags, stream_context, synchronize_stream, create_event, create_event, record_event,
    synchronize_event, elapsed_time, wait_event, destroy_event, allocate, allocate, free_memory, address_range,
    copy_to_device, set_memory, allocate_async, free_async, allocate_host, free_host, create_pool, allocate_from_pool,
    pool_attribute, create_graph, add_node, add_node, change_edge, query_graph, launch_graph, destroy_in_graph,
    use_module, capture};
constexpr unsigned sides = sizeof by_roll / sizeof by_roll[0];
static_assert(sides == 46);

constexpr int length = 80;

void play(unsigned seed) {
  World world{seed};
  CUdevice device = 0;
  CUcontext primary = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  row("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&primary, device));
  row("cuCtxSetCurrent(c1)", cuCtxSetCurrent(primary));
  world.keep_context(primary);
  for (int i = 0; i < length; i++) by_roll[world.dice.roll(sides)](world);
}

}  // namespace

void add_sequences(CaseList& list, unsigned first, unsigned last) {
  for (unsigned seed = first; seed <= last; seed++)
    list.chained("seq" + std::to_string(seed), [seed] { play(seed); });
}

}  // namespace probe

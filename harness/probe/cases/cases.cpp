// SPDX-License-Identifier: Apache-2.0
// The whole table of cases.
#include "cases/cases.h"

namespace probe {

void add_all(CaseList& list) {
  add_states(list);
  add_sticky(list);
  add_destroyed(list);
  add_device_arguments(list);
  add_memory_arguments(list);
  add_module_arguments(list);
  add_graph_arguments(list);
  add_capture(list);
  add_capture_calls(list);
  add_capture_threads(list);
  add_graph_structure(list);
  add_graph_exec(list);
  add_graph_update(list);
  add_graph_memory(list);
  add_user_objects(list);
  add_pools(list);
  add_pointers(list);
  add_copies(list);
  add_managed(list);
  add_virtual_memory(list);
  add_modules(list);
  add_functions(list);
  add_linking(list);
  add_launches(list);
  add_events(list);
  add_streams(list);
  add_contexts(list);
  add_green_contexts(list);
  add_ipc(list);
  add_devices(list);
  add_lookups(list);
  add_small(list);
  add_tensor_maps(list);
  add_more_arguments(list);
  add_more_graph_arguments(list);
  add_more_references(list);
  add_more_states(list);
}

}  // namespace probe

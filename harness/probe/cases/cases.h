// SPDX-License-Identifier: Apache-2.0
// All cases, a function for each file of them.
#pragma once

#include "core/case_list.h"

namespace probe {

void add_all(CaseList& list);

void add_states(CaseList& list);
void add_sticky(CaseList& list);
void add_destroyed(CaseList& list);
void add_device_arguments(CaseList& list);
void add_memory_arguments(CaseList& list);
void add_module_arguments(CaseList& list);
void add_graph_arguments(CaseList& list);
void add_capture(CaseList& list);
void add_capture_calls(CaseList& list);
void add_capture_threads(CaseList& list);
void add_graph_structure(CaseList& list);
void add_graph_exec(CaseList& list);
void add_graph_update(CaseList& list);
void add_graph_memory(CaseList& list);
void add_user_objects(CaseList& list);
void add_pools(CaseList& list);
void add_pointers(CaseList& list);
void add_copies(CaseList& list);
void add_managed(CaseList& list);
void add_virtual_memory(CaseList& list);
void add_modules(CaseList& list);
void add_functions(CaseList& list);
void add_linking(CaseList& list);
void add_launches(CaseList& list);
void add_events(CaseList& list);
void add_streams(CaseList& list);
void add_contexts(CaseList& list);
void add_green_contexts(CaseList& list);
void add_ipc(CaseList& list);
void add_devices(CaseList& list);
void add_lookups(CaseList& list);
void add_small(CaseList& list);
void add_tensor_maps(CaseList& list);
void add_more_arguments(CaseList& list);
void add_more_graph_arguments(CaseList& list);
void add_more_references(CaseList& list);
void add_more_states(CaseList& list);

}  // namespace probe

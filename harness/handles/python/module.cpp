// SPDX-License-Identifier: Apache-2.0
// The extension module of cufault.reference.
#include <nanobind/nanobind.h>

#include "errors.h"
#include "objects.h"

namespace nb = nanobind;

NB_MODULE(_reference, module) {
  // Clean-up during finalization leaks on purpose; nanobind would print a line for every object that is left.
  nb::set_leak_warnings(false);
  cufault::reference::bind_errors(module);
  cufault::reference::bind_device(module);
  cufault::reference::bind_stream(module);
  cufault::reference::bind_memory(module);
  cufault::reference::bind_graph(module);
}

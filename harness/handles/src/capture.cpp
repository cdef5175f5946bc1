// SPDX-License-Identifier: Apache-2.0
// Stream capture.
#include "cufault/handles/capture.h"

#include "cufault/handles/deferred.h"

namespace cufault::handles {

unique<capture> capture::begin(const shared<stream>& on, CUstreamCaptureMode mode) {
  drain_deferred();
  unique<capture> made(new capture(on));
  call(driver().cuStreamBeginCapture, on->raw(), mode);
  made->going_on_ = true;
  return made;
}

unique<graph> capture::end() {
  unique<graph> made = graph::adopt(nullptr);  // before the driver gives a graph (P28)
  CUgraph raw = nullptr;
  going_on_ = false;
  call(driver().cuStreamEndCapture, on_->raw(), &raw);
  made->take(raw);
  return made;
}

void capture::destroy(cleanup& failures) noexcept {
  if (!std::exchange(going_on_, false)) {
    return;
  }
  const driver_table& table = *loaded_driver();
  CUgraph raw = nullptr;
  if (failures.call("the capture was given up", table.cuStreamEndCapture, as_number(on_->raw()), on_->raw(), &raw) &&
      raw != nullptr) {
    failures.call("the captured graph is leaked", table.cuGraphDestroy, as_number(raw), raw);
  }
}

}  // namespace cufault::handles

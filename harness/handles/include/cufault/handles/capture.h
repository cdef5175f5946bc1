// SPDX-License-Identifier: Apache-2.0
// Stream capture: a graph under construction.
#ifndef CUFAULT_HANDLES_CAPTURE_H
#define CUFAULT_HANDLES_CAPTURE_H

#include "cufault/handles/graph.h"

namespace cufault::handles {

// A capture that is going on. It has to be ended on the thread that began it.
class capture final : public resource {
 public:
  [[nodiscard]] static unique<capture> begin(const shared<stream>& on,
                                             CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED);

  // Ends it and gives the graph. The driver ends a capture also where it answers an error: it is not ended again.
  [[nodiscard]] unique<graph> end();
  [[nodiscard]] bool going_on() const noexcept { return going_on_; }

 private:
  explicit capture(const shared<stream>& on) noexcept : on_(on) {}
  ~capture() override = default;
  // Ends a capture that nobody ended, and destroys what it made.
  void destroy(cleanup& failures) noexcept override;

  shared<stream> on_;
  bool going_on_ = false;
};

}  // namespace cufault::handles

#endif

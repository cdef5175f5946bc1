// SPDX-License-Identifier: Apache-2.0
// What a user object of the driver owns on behalf of a graph node.
#ifndef CUFAULT_HANDLES_ATTACHMENT_H
#define CUFAULT_HANDLES_ATTACHMENT_H

#include <utility>

#include "cufault/handles/deferred.h"
#include "cufault/handles/graph.h"

namespace cufault::handles {

class attachment final : public deferred {
 public:
  explicit attachment(owners keep) noexcept : keep_(std::move(keep)) {}

  // The user object's destructor, called by the driver on a thread of its choice when the last holder is gone.
  static void CUDA_CB on_last_holder_gone(void* self) noexcept { defer(*static_cast<attachment*>(self)); }

  void run() noexcept override { delete this; }

 private:
  owners keep_;
};

}  // namespace cufault::handles

#endif

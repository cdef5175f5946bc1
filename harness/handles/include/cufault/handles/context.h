// SPDX-License-Identifier: Apache-2.0
// Contexts, and the devices whose primary contexts they may be.
#ifndef CUFAULT_HANDLES_CONTEXT_H
#define CUFAULT_HANDLES_CONTEXT_H

#include <mutex>

#include "cufault/handles/resource.h"

namespace cufault::handles {

enum class context_kind { primary, plain, green, foreign };

// One owned context, or one reference to a device's primary context. Everything made in a context keeps it alive.
class context final : public resource {
 public:
  // Retains the primary context of `device`.
  [[nodiscard]] static unique<context> retain_primary(CUdevice device);
  // Makes a context of its own (cuCtxCreate); the caller's context stays current.
  [[nodiscard]] static unique<context> create(CUdevice device, unsigned flags = 0);
  // Makes a green context from a part of the device's multiprocessors, with the context that stands for it.
  [[nodiscard]] static unique<context> create_green(CUdevice device, unsigned multiprocessors);
  // Refers to a context that somebody else owns and keeps alive.
  [[nodiscard]] static unique<context> foreign(CUcontext raw, CUdevice device);

  [[nodiscard]] CUcontext raw() const noexcept { return raw_; }
  // Null unless it is green.
  [[nodiscard]] CUgreenCtx green() const noexcept { return green_; }
  [[nodiscard]] CUdevice device() const noexcept { return device_; }
  [[nodiscard]] context_kind kind() const noexcept { return kind_; }

 private:
  context(context_kind kind, CUdevice device) noexcept : kind_(kind), device_(device) {}
  ~context() override = default;
  void destroy(cleanup& failures) noexcept override;

  context_kind kind_;
  CUdevice device_;
  CUcontext raw_ = nullptr;
  CUgreenCtx green_ = nullptr;
};

// A device and, from its first use on, one reference to its primary context.
class device {
 public:
  // Initialises the driver if need be.
  explicit device(int ordinal);

  [[nodiscard]] static int count();
  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
  [[nodiscard]] CUdevice raw() const noexcept { return raw_; }

  // The primary context: the reference kept, or a new one that goes with its owners unless keep() is called. An
  // operation calls keep() as its last act, so that one that fails leaves no new reference behind (P04).
  [[nodiscard]] shared<context> primary() const;
  void keep(const shared<context>& primary) noexcept;
  // Gives the kept reference up.
  void forget() noexcept;

 private:
  int ordinal_;
  CUdevice raw_ = 0;
  mutable std::mutex mutex_;  // guards the pointer only, never held across a driver call (P27)
  shared<context> primary_;
};

}  // namespace cufault::handles

#endif

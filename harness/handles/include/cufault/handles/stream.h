// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#ifndef CUFAULT_HANDLES_STREAM_H
#define CUFAULT_HANDLES_STREAM_H

#include "cufault/handles/context.h"

namespace cufault::handles {

class event;

// A stream. The default streams and streams of others are not owned: their handle is looked at, never destroyed.
class stream final : public resource {
 public:
  [[nodiscard]] static unique<stream> create(const shared<context>& in, unsigned flags = CU_STREAM_NON_BLOCKING,
                                             int priority = 0);
  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or somebody else's stream.
  [[nodiscard]] static unique<stream> borrow(CUstream raw);

  [[nodiscard]] CUstream raw() const noexcept { return raw_; }
  [[nodiscard]] bool owned() const noexcept { return static_cast<bool>(context_); }
  // One of the tokens that stand for the default stream of whichever context is current.
  [[nodiscard]] bool is_default() const noexcept;
  // Null for a stream that is not owned.
  [[nodiscard]] const shared<context>& owning_context() const noexcept { return context_; }
  [[nodiscard]] unsigned flags() const noexcept { return flags_; }
  [[nodiscard]] int priority() const noexcept { return priority_; }

  void synchronize() const;
  // Whether all work is done; NOT_READY is an answer, not a failure.
  [[nodiscard]] bool done() const;
  void record(const event& what) const;
  void wait(const event& what) const;

 private:
  stream(shared<context> in, unsigned flags, int priority) noexcept
      : context_(std::move(in)), flags_(flags), priority_(priority) {}
  ~stream() override = default;
  void destroy(cleanup& failures) noexcept override;

  shared<context> context_;
  CUstream raw_ = nullptr;
  unsigned flags_;
  int priority_;
};

class event final : public resource {
 public:
  // `in` null: in whichever context is current, which the caller keeps alive.
  [[nodiscard]] static unique<event> create(const shared<context>& in, unsigned flags = CU_EVENT_DISABLE_TIMING);
  // An event that another process exported.
  [[nodiscard]] static unique<event> open_ipc(const shared<context>& in, const CUipcEventHandle& exported);
  [[nodiscard]] CUipcEventHandle export_ipc() const;

  [[nodiscard]] CUevent raw() const noexcept { return raw_; }
  [[nodiscard]] unsigned flags() const noexcept { return flags_; }
  [[nodiscard]] const shared<context>& owning_context() const noexcept { return context_; }

  void synchronize() const;
  [[nodiscard]] bool done() const;
  [[nodiscard]] float milliseconds_since(const event& earlier) const;

 private:
  event(shared<context> in, unsigned flags) noexcept : context_(std::move(in)), flags_(flags) {}
  ~event() override = default;
  void destroy(cleanup& failures) noexcept override;

  shared<context> context_;
  CUevent raw_ = nullptr;
  unsigned flags_;
};

}  // namespace cufault::handles

#endif

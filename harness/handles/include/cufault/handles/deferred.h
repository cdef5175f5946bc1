// SPDX-License-Identifier: Apache-2.0
// Clean-up that a driver callback asks for and that runs later, at a safe point.
#ifndef CUFAULT_HANDLES_DEFERRED_H
#define CUFAULT_HANDLES_DEFERRED_H

namespace cufault::handles {

// A driver callback may make no driver call and must not wait for a lock that somebody inside a driver call holds, an
// interpreter's included (P23). So it only links its work into a list: lock-free, without memory of its own, since the
// link is part of the object that was allocated when the callback was registered. The list is therefore bounded by the
// live attachments and never drops anything.
class deferred {
 public:
  deferred() noexcept = default;
  deferred(const deferred&) = delete;
  deferred& operator=(const deferred&) = delete;

  // Does the work on a thread that may call the driver, and frees the object.
  virtual void run() noexcept = 0;

 protected:
  ~deferred() = default;

 private:
  friend void defer(deferred& work) noexcept;
  friend void drain_deferred() noexcept;
  deferred* next_ = nullptr;
};

void defer(deferred& work) noexcept;

// Runs what has been deferred so far, oldest first. Called by the layer before it enters a context and after it has
// destroyed something; callers may call it wherever driver calls are allowed. Does nothing while the leak predicate
// holds.
void drain_deferred() noexcept;

// Called after each defer(), on the callback's thread: must neither wait nor call the driver. For hosts that can
// arrange a drain by themselves. Returns the hook before; null (the default) means none.
using deferred_hook = void (*)() noexcept;
deferred_hook exchange_deferred_hook(deferred_hook hook) noexcept;

}  // namespace cufault::handles

#endif

// SPDX-License-Identifier: Apache-2.0
// What all handles share: counted ownership, shared and unique owners, non-owning views, and clean-up that reports.
#ifndef CUFAULT_HANDLES_RESOURCE_H
#define CUFAULT_HANDLES_RESOURCE_H

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "cufault/handles/report.h"

namespace cufault::handles {

// Collects what fails while something is cleaned up. Whoever owns the collector decides the channel afterwards, when
// the caller's context is back and no lock is held: report() all of it, or raise() the first and report the rest.
// CUDA_ERROR_DEINITIALIZED is kept too: it is silent in report() and raised by raise() (P15).
class cleanup {
 public:
  // Makes one clean-up call; true if it succeeded.
  template <class Function, class... Args>
  bool call(const char* consequence, const Function& function, std::uint64_t handle, Args... args) noexcept {
    return note(handles::report{attempt(function, handle, args...), consequence, restoration::no, nullptr});
  }

  // The same with `target` current, for objects whose destroy works on the current context. A context that cannot be
  // entered means that the call is not made (P17); one that cannot be restored stays, is noted, and is not retried
  // (P20).
  template <class Function, class... Args>
  bool call_in_context(CUcontext target, const char* consequence, const char* skipped, const Function& function,
                       std::uint64_t handle, Args... args) noexcept;

  // Keeps one outcome; true if it was a success.
  bool note(const handles::report& outcome) noexcept;

  [[nodiscard]] bool clean() const noexcept { return count_ == 0; }
  void report() const noexcept;
  // Throws the first failure, if there is one. The others are reported (P11), and a note of the first one says so.
  void raise() const;
  // Reports every failure, and adds to an error that is already on its way a note that there were some. The note
  // repeats nothing of them: each failure shows in one channel (P08).
  void attach_to(cuda_error& error) const noexcept;

 private:
  void report_from(unsigned first) const noexcept;
  void note_on(cuda_error& error, unsigned first) const noexcept;

  static constexpr unsigned places = 8;
  unsigned count_ = 0;
  bool overflowed_ = false;
  handles::report held_[places];
};

// The base of every owned driver object: counts its owners and is destroyed with the last one. Objects keep what they
// depend on alive (a stream its context, a buffer its stream), as members that go after the object itself.
class resource {
 public:
  resource(const resource&) = delete;
  resource& operator=(const resource&) = delete;

  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  // An owner goes implicitly: what fails is reported (P12).
  void release() noexcept;
  // An owner goes by an explicit close: if it was the last one, what fails is raised (P25), once everything is done.
  void close();
  // Whether nobody else shares the object at this moment.
  [[nodiscard]] bool sole_owner() const noexcept { return owners_.load(std::memory_order_acquire) == 1; }

 protected:
  resource() noexcept : generation_(fork_generation()) {}
  virtual ~resource() = default;

  // Makes the destroy call, if there is something to destroy. Whatever it answers, the object is not used again and not
  // destroyed again: after a failure its state is unknown (P16).
  virtual void destroy(cleanup& failures) noexcept = 0;

 private:
  bool last_owner() noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  void dispose(cleanup& failures) noexcept;

  std::atomic<std::uint32_t> owners_{1};
  std::uint32_t generation_;
};

// A look at an object that somebody else owns. Costs nothing, keeps nothing alive.
template <class Object>
class view {
 public:
  view() noexcept = default;
  explicit view(Object* object) noexcept : object_(object) {}

  [[nodiscard]] Object* get() const noexcept { return object_; }
  Object* operator->() const noexcept { return object_; }
  Object& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

// The only owner of an object. Becomes a shared one without allocating, so that nothing can fail between the driver's
// success and ownership (P28).
template <class Object>
class unique {
 public:
  unique() noexcept = default;
  // Takes over the reference that `object` was born with.
  explicit unique(Object* object) noexcept : object_(object) {}
  unique(unique&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  unique& operator=(unique&& other) noexcept {
    unique(std::move(other)).swap(*this);
    return *this;
  }
  ~unique() { reset(); }

  void reset() noexcept {
    if (Object* object = std::exchange(object_, nullptr)) {
      object->release();
    }
  }
  void close() {
    if (Object* object = std::exchange(object_, nullptr)) {
      object->close();
    }
  }
  void swap(unique& other) noexcept { std::swap(object_, other.object_); }
  [[nodiscard]] Object* release() noexcept { return std::exchange(object_, nullptr); }

  [[nodiscard]] Object* get() const noexcept { return object_; }
  Object* operator->() const noexcept { return object_; }
  Object& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  operator view<Object>() const noexcept { return view<Object>(object_); }

 private:
  Object* object_ = nullptr;
};

// One of possibly many owners.
template <class Object>
class shared {
 public:
  shared() noexcept = default;
  template <class Derived>
  shared(unique<Derived>&& other) noexcept : object_(other.release()) {}
  // Another owner of what `other` looks at.
  explicit shared(view<Object> other) noexcept : object_(other.get()) { retain(); }
  shared(const shared& other) noexcept : object_(other.object_) { retain(); }
  shared(shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class Derived>
  shared(const shared<Derived>& other) noexcept : object_(other.get()) {
    retain();
  }
  shared& operator=(shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~shared() { reset(); }

  void reset() noexcept {
    if (Object* object = std::exchange(object_, nullptr)) {
      object->release();
    }
  }
  // Gives this owner up; if it was the last one, the object is destroyed here and a failure is thrown. The owner is
  // empty afterwards either way.
  void close() {
    if (Object* object = std::exchange(object_, nullptr)) {
      object->close();
    }
  }

  [[nodiscard]] Object* get() const noexcept { return object_; }
  Object* operator->() const noexcept { return object_; }
  Object& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  operator view<Object>() const noexcept { return view<Object>(object_); }

 private:
  void retain() const noexcept {
    if (object_ != nullptr) {
      object_->retain();
    }
  }

  Object* object_ = nullptr;
};

// Shares in objects of any kind, kept for as long as something depends on them.
using owners = std::vector<shared<resource>>;

}  // namespace cufault::handles

#endif

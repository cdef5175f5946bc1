// SPDX-License-Identifier: Apache-2.0
// The handle kinds that one driver call makes and one destroys, from a description of each.
#ifndef CUFAULT_HANDLES_OBJECT_H
#define CUFAULT_HANDLES_OBJECT_H

#include "cufault/handles/context.h"
#include "cufault/handles/scope.h"

namespace cufault::handles {

// Kind says: `native`, the driver's handle type; `leaked`, the consequence of a failed destroy; `destroyer(table)`, the
// call; and whether that call works on the current context (`in_context`): then the object is only ever destroyed, and
// a creation only ever undone, in its own context, since elsewhere the same handle may be a stranger's.
template <class Kind>
class object final : public resource {
 public:
  using native = typename Kind::native;

  // `make` makes the driver call and throws what fails. `in` null: in whichever context is current, which the caller
  // keeps alive. `keep` lives until the object is destroyed.
  [[nodiscard]] static unique<object> create(const shared<context>& in, function_ref<void(native*)> make,
                                             owners keep = {}) {
    unique<object> made(new object(in, std::move(keep)));
    try {
      run_or_undo_in_context(
          in ? in->raw() : nullptr,
          [&] {
            native raw{};
            make(&raw);
            made->raw_ = raw;
          },
          [&](cleanup& failures) { made->destroy_here(failures); },
          Kind::in_context ? undo_needs::target_context : undo_needs::nothing, Kind::leaked);
    } catch (...) {
      made->raw_ = native{};  // still there only if it could not be undone: then it is leaked, and was reported
      throw;
    }
    return made;
  }

  // Takes over an object that the caller made.
  [[nodiscard]] static unique<object> adopt(const shared<context>& in, native raw, owners keep = {}) {
    unique<object> made(new object(in, std::move(keep)));
    made->raw_ = raw;
    return made;
  }

  [[nodiscard]] native raw() const noexcept { return raw_; }
  [[nodiscard]] const shared<context>& owning_context() const noexcept { return context_; }

 private:
  object(shared<context> in, owners keep) noexcept : context_(std::move(in)), keep_(std::move(keep)) {}
  ~object() override = default;

  void destroy_here(cleanup& failures) noexcept {
    const native raw = std::exchange(raw_, native{});
    failures.call(Kind::leaked, Kind::destroyer(*loaded_driver()), as_number(raw), raw);
  }

  void destroy(cleanup& failures) noexcept override {
    if (raw_ == native{}) {
      return;
    }
    if (Kind::in_context && context_) {
      cleanup_in_context(context_->raw(), failures, Kind::leaked, [&] { destroy_here(failures); });
    } else {
      destroy_here(failures);
    }
  }

  shared<context> context_;
  owners keep_;
  native raw_{};
};

}  // namespace cufault::handles

#endif

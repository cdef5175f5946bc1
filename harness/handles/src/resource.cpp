// SPDX-License-Identifier: Apache-2.0
// How an owned object goes, implicitly or by an explicit close, and how the failures of that are told.
#include "cufault/handles/resource.h"

#include <string>

#include "cufault/handles/deferred.h"

namespace cufault::handles {
namespace {

std::string explanation_of(const report& what) {
  std::string text = what.consequence;
  switch (what.restoring) {
    case restoration::no:
      return text;
    case restoration::current_known:
      text += what.current == nullptr ? "; no context is current now"
                                      : "; context " + handle_text(as_number(what.current)) + " is current now";
      break;
    case restoration::current_unknown:
      text += "; which context is current now is unknown";
      break;
  }
  return text + "; call Device.set_current() to choose one";
}

}  // namespace

bool cleanup::note(const handles::report& outcome) noexcept {
  if (!outcome.what) {
    return true;
  }
  if (count_ < places) {
    held_[count_++] = outcome;
  } else {
    overflowed_ = true;
  }
  return false;
}

void cleanup::report_from(unsigned first) const noexcept {
  for (unsigned i = first; i < count_; ++i) {
    report_failure(held_[i]);
  }
  if (overflowed_) {
    report_failure(
        {held_[places - 1].what, "more failures followed than places to keep them", restoration::no, nullptr});
  }
}

void cleanup::report() const noexcept { report_from(0); }

void cleanup::raise() const {
  if (clean()) {
    return;
  }
  report_from(1);
  cuda_error error(held_[0].what, explanation_of(held_[0]));
  note_on(error, 1);
  throw error;
}

void cleanup::attach_to(cuda_error& error) const noexcept {
  report_from(0);
  note_on(error, 0);
}

void cleanup::note_on(cuda_error& error, unsigned first) const noexcept {
  for (unsigned i = first; i < count_; ++i) {
    if (held_[i].what.code != CUDA_ERROR_DEINITIALIZED) {
      error.add_note("something else failed while this error was on its way, and was reported");
      return;
    }
  }
}

void resource::dispose(cleanup& failures) noexcept {
  // An object of the parent process is the parent's to destroy: a forked child only forgets it.
  if (generation_ == fork_generation() && loaded_driver() != nullptr) {
    destroy(failures);
  }
  delete this;
}

void resource::release() noexcept {
  if (last_owner()) {
    cleanup failures;
    dispose(failures);
    failures.report();
    drain_deferred();
  }
}

void resource::close() {
  if (last_owner()) {
    cleanup failures;
    dispose(failures);
    drain_deferred();
    failures.raise();
  }
}

}  // namespace cufault::handles

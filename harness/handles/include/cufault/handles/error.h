// SPDX-License-Identifier: Apache-2.0
// Failures of driver calls: as a plain record, and as the exception that carries it to the caller.
#ifndef CUFAULT_HANDLES_ERROR_H
#define CUFAULT_HANDLES_ERROR_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "cufault/handles/driver_table.h"

namespace cufault::handles {

// One failed call. Holds no memory of its own, so that clean-up paths can keep it; `code` is CUDA_SUCCESS where nothing
// failed. `handle` is 0 where the call is about no object yet (a creation).
struct failure {
  CUresult code;
  bool missing;  // the function is not in this driver
  const char* call;
  std::uint64_t handle;
  const char* other = nullptr;  // the result of a call that is not the driver's, in its own words (static storage)

  explicit operator bool() const noexcept { return code != CUDA_SUCCESS; }
};

inline constexpr failure no_failure{CUDA_SUCCESS, false, "", 0};

template <class Native>
[[nodiscard]] std::uint64_t as_number(Native handle) noexcept {
  if constexpr (std::is_pointer_v<Native>) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
  } else {
    return static_cast<std::uint64_t>(handle);
  }
}

// Names as the driver spells them; the number in decimal where the driver gives none any more (shutting down).
[[nodiscard]] std::string error_name(CUresult code);
[[nodiscard]] std::string error_description(CUresult code);

// "0x7f..." as every text of the layer spells a handle.
[[nodiscard]] std::string handle_text(std::uint64_t handle);

// A failed driver call that could be raised (P01). what() is
//   CUDA_ERROR_X: description (cuCall)
// followed by the explanation, if there is one, on its own line. The explanation travels in the exception and nowhere
// else: nothing is left behind that a later error could pick up (P03). Notes tell of what failed afterwards, while this
// error was on its way (P10, P11).
class cuda_error : public std::runtime_error {
 public:
  explicit cuda_error(const failure& what, std::string explanation = {});

  [[nodiscard]] CUresult code() const noexcept { return failure_.code; }
  [[nodiscard]] const char* call() const noexcept { return failure_.call; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  [[nodiscard]] const std::string& explanation() const noexcept { return explanation_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

  // Never throws: a note that finds no memory is lost, the error is not.
  void add_note(const char* text) noexcept;

 private:
  cuda_error(const failure& what, std::string name, std::string description, std::string explanation);

  failure failure_;
  std::string name_;
  std::string description_;
  std::string explanation_;
  std::vector<std::string> notes_;
};

// Makes one driver call and tells how it went.
template <class Function, class... Args>
[[nodiscard]] failure attempt(const Function& function, std::uint64_t handle, Args... args) noexcept {
  return failure{function(args...), function.address == nullptr, function.name, handle};
}

// Makes one driver call; throws cuda_error if it fails.
template <class Function, class... Args>
void call(const Function& function, Args... args) {
  if (const failure failed = attempt(function, 0, args...)) {
    throw cuda_error(failed);
  }
}

}  // namespace cufault::handles

#endif

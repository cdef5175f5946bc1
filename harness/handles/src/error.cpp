// SPDX-License-Identifier: Apache-2.0
// Texts of errors, and the exception that carries them.
#include "cufault/handles/error.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace cufault::handles {
namespace {

std::string text_from_driver(const driver_function<PFN_cuGetErrorName_v6000>& ask, CUresult code) {
  const char* text = nullptr;
  return ask(code, &text) == CUDA_SUCCESS && text != nullptr ? std::string(text) : std::string();
}

std::string version_text(int version) {
  return version == 0 ? "unknown" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string full_explanation(const failure& what, std::string given) {
  if (given.empty() && what.missing) {
    const driver_table* table = loaded_driver();
    given = std::string(what.call) + " is not in this driver (version " +
            version_text(table == nullptr ? 0 : table->driver_version) + ")";
  }
  if (given.empty() && what.code == CUDA_ERROR_NOT_INITIALIZED && fork_generation() != 0) {
    given = "this process was forked after its parent had initialised CUDA; start it with exec or spawn instead";
  }
  return given;
}

std::string message(const failure& what, const std::string& name, const std::string& description,
                    const std::string& explanation) {
  std::string text = name;
  if (!description.empty()) {
    text += ": " + description;
  }
  text += " (";
  text += what.call;
  text += ")";
  if (!explanation.empty()) {
    text += "\n" + explanation;
  }
  return text;
}

}  // namespace

std::string error_name(CUresult code) {
  const driver_table* table = loaded_driver();
  std::string name = table == nullptr ? std::string() : text_from_driver(table->cuGetErrorName, code);
  return name.empty() ? "CUresult " + std::to_string(static_cast<int>(code)) : name;
}

std::string error_description(CUresult code) {
  const driver_table* table = loaded_driver();
  return table == nullptr ? std::string() : text_from_driver(table->cuGetErrorString, code);
}

std::string handle_text(std::uint64_t handle) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(handle));
  return text;
}

cuda_error::cuda_error(const failure& what, std::string explanation)
    : cuda_error(what, what.other == nullptr ? error_name(what.code) : what.other,
                 what.other == nullptr ? error_description(what.code) : std::string(),
                 full_explanation(what, std::move(explanation))) {}

cuda_error::cuda_error(const failure& what, std::string name, std::string description, std::string explanation)
    : std::runtime_error(message(what, name, description, explanation)),
      failure_(what),
      name_(std::move(name)),
      description_(std::move(description)),
      explanation_(std::move(explanation)) {}

void cuda_error::add_note(const char* text) noexcept {
  try {
    notes_.emplace_back(text);
  } catch (const std::exception&) {
    // Out of memory: the error itself matters more than what is said beside it.
  }
}

}  // namespace cufault::handles

// SPDX-License-Identifier: Apache-2.0
// Reads a plan: where its parts lie, and that every name in it is known. What a rule may say is in rule_check.cpp.
#include "plan.h"

#include <cstddef>
#include <cstring>

#include "cufault/api_table.h"
#include "rule_check.h"

namespace cufault::faults {
namespace {

// The parts of the file, with what each costs and how it must be aligned.
struct part {
  const char *name;
  std::uint64_t at;
  std::uint64_t count;
  std::uint64_t size;
  std::uint64_t alignment;
};

bool check_parts(const cufault_plan_header &header, process::message &why) noexcept {
  const part parts[] = {
      {"rules", header.rules_at, header.rule_count, sizeof(cufault_plan_rule), alignof(cufault_plan_rule)},
      {"symbols", header.symbol_list_at, header.symbol_list_count, 4, 4},
      {"step names", header.steps_at, header.step_count, 4, 4},
      {"handle names", header.handle_names_at, header.handle_name_count, sizeof(cufault_plan_handle_name), 4},
      {"strings", header.strings_at, header.strings_size, 1, 1},
  };
  for (const part &each : parts) {
    const std::uint64_t end = each.at + each.count * each.size;
    if (each.count != 0 && (each.at < sizeof header || end > header.file_size || each.at % each.alignment != 0)) {
      why << "its " << each.name << " do not lie inside the file";
      return false;
    }
  }
  return true;
}

class reader {
 public:
  reader(const plan &of, process::message &why) noexcept : plan_(of), why_(why) {}

  [[nodiscard]] bool string(const char *field, std::uint32_t offset) noexcept {
    if (offset < plan_.header().strings_size) return true;
    why_ << field << ": string offset " << offset << " is outside the strings";
    return false;
  }
  [[nodiscard]] bool some_string(const char *field, std::uint32_t offset) noexcept {
    if (!string(field, offset)) return false;
    if (*plan_.string(offset) != '\0') return true;
    why_ << field << " is empty";
    return false;
  }

 private:
  const plan &plan_;
  process::message &why_;
};

bool known(const char *field, std::uint32_t value, std::uint32_t least, std::uint32_t most, process::message &why) noexcept {
  if (value >= least && value <= most) return true;
  why << field << " " << value << " is not known to this build";
  return false;
}

template <std::size_t Count>
bool all_zero(const std::uint32_t (&words)[Count]) noexcept {
  for (const std::uint32_t word : words) {
    if (word != 0) return false;
  }
  return true;
}

bool check_header(const plan &of, process::message &why) noexcept {
  const cufault_plan_header &header = of.header();
  reader read(of, why);
  if ((header.flags & ~honoured_flags) != 0) {
    (why << "flags ").hex(header.flags) << " are not all known to this build";
    return false;
  }
  if ((header.flags & CUFAULT_PLAN_TRACE_STACKS) != 0 && (header.flags & CUFAULT_PLAN_TRACE) == 0) {
    why << "flags ask for stacks without a trace to put them in";
    return false;
  }
  if (!known("backend", header.backend, CUFAULT_BACKEND_REAL, CUFAULT_BACKEND_PATH, why)) return false;
  if (!read.string("backend_path", header.backend_path) || !read.string("run_folder", header.run_folder) ||
      !read.string("sim_profile", header.sim_profile))
    return false;
  const bool path_given = *of.string(header.backend_path) == '/';
  if (header.backend != CUFAULT_BACKEND_REAL && !path_given) {
    why << "backend_path '" << of.string(header.backend_path) << "' is not an absolute path";
    return false;
  }
  const char folder_begins = *of.string(header.run_folder);
  if (folder_begins != '/' && (folder_begins != '\0' || (header.flags & CUFAULT_PLAN_TRACE) != 0)) {
    why << "run_folder '" << of.string(header.run_folder) << "' is not an absolute path";
    return false;
  }
  if (header.trace_segment_records > (1u << 24)) {
    why << "trace_segment_records " << header.trace_segment_records << " is more than a file may hold";
    return false;
  }
  if (!all_zero(header.reserved)) {
    why << "reserved fields of the header are not zero: it was written for a newer version";
    return false;
  }
  return true;
}

bool check_names(const plan &of, process::message &why) noexcept {
  reader read(of, why);
  for (std::uint32_t i = 0; i < of.step_count(); ++i) {
    process::text<48> field;
    field << "step " << i + 1;
    if (!read.some_string(field.c_str(), of.step_string(i))) return false;
  }
  for (std::uint32_t i = 0; i < of.handle_name_count(); ++i) {
    const cufault_plan_handle_name &name = of.handle_name(i);
    process::text<48> field;
    field << "handle name " << i + 1;
    if (!read.some_string(field.c_str(), name.name)) return false;
    if (name.kind == 0 || name.kind > api::kind_count) {
      why << field.view() << ": kind " << name.kind << " is not known to this build";
      return false;
    }
    if (name.step > of.step_count()) {
      why << field.view() << ": step " << name.step << " is none of the plan's " << of.step_count();
      return false;
    }
    if (name.reserved != 0) {
      why << field.view() << ": a reserved field is not zero";
      return false;
    }
  }
  return true;
}

}  // namespace

std::uint64_t plan_checksum(const char *bytes, std::size_t size) noexcept {
  constexpr std::size_t skipped = offsetof(cufault_plan_header, checksum);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i) {
    const bool in_checksum = i >= skipped && i < skipped + sizeof(std::uint64_t);
    hash = (hash ^ (in_checksum ? 0u : static_cast<unsigned char>(bytes[i]))) * 0x100000001b3u;
  }
  return hash;
}

bool plan::read(const char *bytes, std::size_t size, process::message &why) noexcept {
  if (size < sizeof(cufault_plan_header)) {
    why << "it has " << std::uint64_t{size} << " bytes, too few for a plan";
    return false;
  }
  header_ = reinterpret_cast<const cufault_plan_header *>(bytes);
  if (std::memcmp(header_->magic, CUFAULT_PLAN_MAGIC, sizeof header_->magic) != 0) {
    why << "it is not a plan";
    return false;
  }
  if (header_->version != CUFAULT_PLAN_VERSION || header_->header_size != sizeof *header_) {
    why << "it is of version " << header_->version << ", this build reads version " << CUFAULT_PLAN_VERSION;
    return false;
  }
  if (header_->file_size != size) {
    why << "it has " << std::uint64_t{size} << " bytes instead of the " << header_->file_size << " that it says";
    return false;
  }
  if (plan_checksum(bytes, size) != header_->checksum) {
    why << "its checksum is wrong: it was changed or cut after it was written";
    return false;
  }
  if (!check_parts(*header_, why)) return false;
  rules_ = reinterpret_cast<const cufault_plan_rule *>(bytes + header_->rules_at);
  symbol_list_ = reinterpret_cast<const std::uint32_t *>(bytes + header_->symbol_list_at);
  steps_ = reinterpret_cast<const std::uint32_t *>(bytes + header_->steps_at);
  handle_names_ = reinterpret_cast<const cufault_plan_handle_name *>(bytes + header_->handle_names_at);
  strings_ = bytes + header_->strings_at;
  // Offset 0 is the empty string, and the last byte ends the last string: then no offset can run out of the block.
  if (header_->strings_size == 0 || strings_[0] != '\0' || strings_[header_->strings_size - 1] != '\0') {
    why << "its strings do not begin and end with a NUL";
    return false;
  }
  if (!check_header(*this, why) || !check_names(*this, why)) return false;
  for (std::uint32_t i = 0; i < rule_count(); ++i) {
    if (!check_rule(*this, i, why)) return false;
  }
  return true;
}

std::uint32_t plan::rule_symbol(const cufault_plan_rule &rule, std::uint32_t i) const noexcept {
  return api::symbol_index(string(rule_symbol_string(rule, i)));
}

}  // namespace cufault::faults

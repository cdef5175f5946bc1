// SPDX-License-Identifier: Apache-2.0
// The plan's bytes: layout, offsets and checksum of plan_format.h, written and read back.
#include <cufault/plan_format.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "api.h"
#include "error.h"
#include "file.h"
#include "plan.h"

namespace cufault::judge {

namespace {

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return hash;
}

// Over the whole file with the checksum taken as zero.
std::uint64_t checksum_of(std::string bytes) {
  std::memset(bytes.data() + offsetof(cufault_plan_header, checksum), 0, sizeof(std::uint64_t));
  return fnv1a(bytes);
}

// Each text once; offset 0 is the empty one.
class string_block {
 public:
  std::uint32_t add(const std::string& text) {
    if (text.empty()) return 0;
    const auto [place, inserted] = offsets_.try_emplace(text, static_cast<std::uint32_t>(bytes_.size()));
    if (inserted) bytes_.append(text).push_back('\0');
    return place->second;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
  std::map<std::string, std::uint32_t> offsets_;
};

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

cufault_plan_rule packed(const plan_rule& rule, string_block& strings) {
  cufault_plan_rule out{};
  out.label = strings.add(rule.label);
  out.symbols_count = static_cast<std::uint32_t>(rule.symbols.size());
  out.effect = rule.effect;
  out.code = rule.code;
  out.sticky_scope = rule.sticky_scope;
  out.from = rule.from;
  out.every = rule.every;
  out.limit = rule.limit;
  out.probability = rule.probability;
  out.seed = rule.seed;
  out.nested = rule.nested;
  out.thread = rule.thread;
  out.thread_name = strings.add(rule.thread_name);
  out.thread_ordinal = rule.thread_ordinal;
  out.step = rule.step;
  out.after_rule = rule.after_rule;
  out.switch_role = rule.switch_role;
  out.handle_kind = rule.handle_kind;
  out.handle_name = rule.handle_name;
  out.handle_ordinal = rule.handle_ordinal;
  out.context_ordinal = rule.context_ordinal;
  out.device_plus_1 = rule.device_plus_1;
  out.argument = rule.argument;
  out.compare = rule.compare;
  out.value = rule.value;
  out.module = strings.add(rule.module);
  out.native_frame = strings.add(rule.native_frame);
  out.python_frame = strings.add(rule.python_frame);
  out.unique_stack = rule.unique_stack ? 1 : 0;
  out.delay_ns = rule.delay_ns;
  out.callback = strings.add(rule.callback);
  return out;
}

// Bounds-checked access to a plan's bytes.
class plan_bytes {
 public:
  plan_bytes(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  template <typename T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) throw error("is cut off");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  [[nodiscard]] std::string text(std::uint32_t offset) const {
    if (offset >= strings_.size()) throw error("names a text outside its string block");
    const std::size_t end = strings_.find('\0', offset);
    if (end == std::string_view::npos) throw error("has a text without an end");
    return std::string(strings_.substr(offset, end - offset));
  }

  void set_strings(std::uint32_t offset, std::uint32_t size) {
    if (offset > bytes_.size() || bytes_.size() - offset < size) throw error("is cut off");
    strings_ = bytes_.substr(offset, size);
  }

  [[nodiscard]] file_error error(const std::string& problem) const { return {name_, "the plan " + problem}; }

 private:
  std::string_view bytes_;
  std::string_view strings_;
  std::string name_;
};

plan_rule unpacked(const cufault_plan_rule& in, const plan_bytes& bytes, const cufault_plan_header& header) {
  plan_rule rule;
  rule.label = bytes.text(in.label);
  if (in.symbols_first > header.symbol_list_count || in.symbols_count > header.symbol_list_count - in.symbols_first) {
    throw bytes.error("has a rule with entry points outside its list");
  }
  for (std::uint32_t index = 0; index < in.symbols_count; ++index) {
    const std::uint64_t place = header.symbol_list_at + std::uint64_t{4} * (in.symbols_first + index);
    rule.symbols.push_back(bytes.text(bytes.at<std::uint32_t>(place)));
  }
  if (effect_name(in.effect).empty()) throw bytes.error("has an effect that this version does not know");
  rule.effect = in.effect;
  rule.code = in.code;
  rule.sticky_scope = in.sticky_scope;
  rule.from = in.from;
  rule.every = in.every;
  rule.limit = in.limit;
  rule.probability = in.probability;
  rule.seed = in.seed;
  rule.nested = in.nested;
  rule.thread = in.thread;
  rule.thread_name = bytes.text(in.thread_name);
  rule.thread_ordinal = in.thread_ordinal;
  rule.step = in.step;
  rule.after_rule = in.after_rule;
  rule.switch_role = in.switch_role;
  rule.handle_kind = in.handle_kind;
  rule.handle_name = in.handle_name;
  rule.handle_ordinal = in.handle_ordinal;
  rule.context_ordinal = in.context_ordinal;
  rule.device_plus_1 = in.device_plus_1;
  rule.argument = in.argument;
  rule.compare = in.compare;
  rule.value = in.value;
  rule.module = bytes.text(in.module);
  rule.native_frame = bytes.text(in.native_frame);
  rule.python_frame = bytes.text(in.python_frame);
  rule.unique_stack = in.unique_stack != 0;
  rule.delay_ns = in.delay_ns;
  rule.callback = bytes.text(in.callback);
  if (rule.step > header.step_count || rule.after_rule > header.rule_count ||
      rule.handle_name > header.handle_name_count) {
    throw bytes.error("has a rule that names a step, rule or handle that it does not have");
  }
  return rule;
}

nlohmann::json rule_as_json(const plan_rule& rule, const plan& source) {
  nlohmann::json out = {
      {"label", rule.label}, {"symbols", rule.symbols}, {"effect", effect_name(rule.effect)}, {"from", rule.from},
      {"every", rule.every}, {"limit", rule.limit},     {"probability", rule.probability},    {"seed", rule.seed}};
  if (rule.code != 0) out["code"] = api::result_text(rule.code);
  if (rule.step != 0) out["step"] = source.steps[rule.step - 1];
  if (rule.handle_name != 0) out["handle"] = source.handles[rule.handle_name - 1].name;
  if (rule.after_rule != 0) out["after"] = source.rules[rule.after_rule - 1].label;
  if (rule.switch_role != 0) out["switch"] = rule.switch_role == CUFAULT_SWITCH_ENTER ? "enter" : "restore";
  return out;
}

}  // namespace

std::string encode_plan(const plan& source) {
  string_block strings;
  cufault_plan_header header{};
  std::memcpy(header.magic, CUFAULT_PLAN_MAGIC, sizeof(header.magic));
  header.version = CUFAULT_PLAN_VERSION;
  header.header_size = sizeof(header);
  header.flags = (source.trace ? std::uint32_t{CUFAULT_PLAN_TRACE} : 0u) |
                 (source.stacks ? std::uint32_t{CUFAULT_PLAN_TRACE_STACKS} : 0u);
  header.backend = source.backend;
  header.backend_path = strings.add(source.backend_path);
  header.run_folder = strings.add(source.run_folder);
  header.trace_segment_records = source.trace_segment_records;
  header.trace_segments_per_thread = source.trace_segments_per_thread;
  header.sim_device_count = source.sim_device_count;
  header.sim_driver_version = source.sim_driver_version;
  header.sim_seed = source.sim_seed;
  header.sim_profile = strings.add(source.sim_profile);

  std::string rules;
  std::string symbols;
  for (const plan_rule& rule : source.rules) {
    cufault_plan_rule out = packed(rule, strings);
    out.symbols_first = static_cast<std::uint32_t>(symbols.size() / sizeof(std::uint32_t));
    for (const std::string& name : rule.symbols) append(symbols, strings.add(name));
    append(rules, out);
  }
  std::string steps;
  for (const std::string& step : source.steps) append(steps, strings.add(step));
  std::string handles;
  for (const plan_handle& handle : source.handles) {
    append(handles, cufault_plan_handle_name{strings.add(handle.name), handle.kind, handle.step, 0});
  }

  std::string body;
  const auto place = [&body](const std::string& part) {
    const std::size_t offset = sizeof(cufault_plan_header) + body.size();
    body += part;
    return static_cast<std::uint32_t>(offset);
  };
  header.rules_at = place(rules);
  header.rule_count = static_cast<std::uint32_t>(source.rules.size());
  header.symbol_list_at = place(symbols);
  header.symbol_list_count = static_cast<std::uint32_t>(symbols.size() / sizeof(std::uint32_t));
  header.steps_at = place(steps);
  header.step_count = static_cast<std::uint32_t>(source.steps.size());
  // Eight-byte structures stay aligned, so that a reader may use the mapped file in place.
  if (body.size() % 8 != 0) body.append(8 - body.size() % 8, '\0');
  header.handle_names_at = place(handles);
  header.handle_name_count = static_cast<std::uint32_t>(source.handles.size());
  header.strings_at = place(strings.bytes());
  header.strings_size = static_cast<std::uint32_t>(strings.bytes().size());
  header.file_size = sizeof(header) + body.size();

  std::string bytes;
  append(bytes, header);
  bytes += body;
  const std::uint64_t checksum = checksum_of(bytes);
  std::memcpy(bytes.data() + offsetof(cufault_plan_header, checksum), &checksum, sizeof(checksum));
  return bytes;
}

plan decode_plan(std::string_view bytes, const std::string& name) {
  plan_bytes reader(bytes, name);
  const auto header = reader.at<cufault_plan_header>(0);
  if (std::memcmp(header.magic, CUFAULT_PLAN_MAGIC, sizeof(header.magic)) != 0) throw reader.error("has another magic");
  if (header.version != CUFAULT_PLAN_VERSION || header.header_size != sizeof(header)) {
    throw reader.error("has version " + std::to_string(header.version) + ", not " +
                       std::to_string(CUFAULT_PLAN_VERSION));
  }
  if (header.file_size != bytes.size()) throw reader.error("is cut off");
  if (header.checksum != checksum_of(std::string(bytes))) throw reader.error("has a wrong checksum");
  if ((header.flags & ~std::uint32_t{CUFAULT_PLAN_TRACE | CUFAULT_PLAN_TRACE_STACKS}) != 0) {
    throw reader.error("has a flag that this version does not know");
  }
  reader.set_strings(header.strings_at, header.strings_size);
  plan source;
  source.trace = (header.flags & CUFAULT_PLAN_TRACE) != 0;
  source.stacks = (header.flags & CUFAULT_PLAN_TRACE_STACKS) != 0;
  source.backend = header.backend;
  if (source.backend < CUFAULT_BACKEND_REAL || source.backend > CUFAULT_BACKEND_PATH) {
    throw reader.error("has a backend that this version does not know");
  }
  source.backend_path = reader.text(header.backend_path);
  source.run_folder = reader.text(header.run_folder);
  source.trace_segment_records = header.trace_segment_records;
  source.trace_segments_per_thread = header.trace_segments_per_thread;
  source.sim_device_count = header.sim_device_count;
  source.sim_driver_version = header.sim_driver_version;
  source.sim_seed = header.sim_seed;
  source.sim_profile = reader.text(header.sim_profile);
  for (std::uint32_t index = 0; index < header.step_count; ++index) {
    source.steps.push_back(reader.text(reader.at<std::uint32_t>(header.steps_at + std::uint64_t{4} * index)));
  }
  for (std::uint32_t index = 0; index < header.handle_name_count; ++index) {
    const std::uint64_t place = header.handle_names_at + std::uint64_t{sizeof(cufault_plan_handle_name)} * index;
    const auto handle = reader.at<cufault_plan_handle_name>(place);
    if (handle.step > header.step_count) throw reader.error("has a handle of a step that it does not have");
    source.handles.push_back({reader.text(handle.name), handle.kind, handle.step});
  }
  for (std::uint32_t index = 0; index < header.rule_count; ++index) {
    const std::uint64_t place = header.rules_at + std::uint64_t{sizeof(cufault_plan_rule)} * index;
    source.rules.push_back(unpacked(reader.at<cufault_plan_rule>(place), reader, header));
  }
  return source;
}

void write_plan(const std::string& path, std::string_view json_text) {
  write_file(path, encode_plan(parse_plan_request(json_text)));
}

plan read_plan(const std::string& path) { return decode_plan(read_file(path), path); }

std::string plan_as_json(const plan& source) {
  constexpr std::string_view backends[] = {"", "real", "simulated", "path"};
  nlohmann::json out = {{"format", 1},
                        {"run_folder", source.run_folder},
                        {"backend", backends[source.backend]},
                        {"backend_path", source.backend_path},
                        {"trace", source.trace},
                        {"stacks", source.stacks},
                        {"steps", source.steps},
                        {"handles", nlohmann::json::array()},
                        {"faults", nlohmann::json::array()},
                        {"sim",
                         {{"device_count", source.sim_device_count},
                          {"driver_version", source.sim_driver_version},
                          {"seed", source.sim_seed},
                          {"profile", source.sim_profile}}}};
  for (const plan_handle& handle : source.handles) {
    nlohmann::json entry = {{"name", handle.name}};
    if (handle.kind >= 1 && handle.kind <= api::kinds().size()) entry["kind"] = api::kinds()[handle.kind - 1].name;
    if (handle.step != 0) entry["step"] = source.steps[handle.step - 1];
    out["handles"].push_back(std::move(entry));
  }
  for (const plan_rule& rule : source.rules) out["faults"].push_back(rule_as_json(rule, source));
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace cufault::judge

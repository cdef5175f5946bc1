// SPDX-License-Identifier: Apache-2.0
// Reads a plan request: names become numbers, globs and classes become lists of entry points.
#include <cufault/plan_format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <limits>

#include "api.h"
#include "json_place.h"
#include "plan.h"

namespace cufault::judge {

namespace {

using names = std::span<const std::string_view>;

constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();

// Each in the order of its enumeration; `effects` counts from 1.
constexpr std::array<std::string_view, 12> effects = {"fail",         "call_then_fail",  "sticky",        "async",
                                                      "deinitialize", "destroy_context", "reset_primary", "missing",
                                                      "real_fault",   "delay",           "hang",          "callback"};
constexpr std::array<std::string_view, 3> switch_roles = {"any", "enter", "restore"};
constexpr std::array<std::string_view, 3> nested_choices = {"no", "also", "only"};
constexpr std::array<std::string_view, 2> sticky_scopes = {"observed", "documented"};
constexpr std::array<std::string_view, 3> backends = {"real", "simulated", "path"};
constexpr std::array<std::string_view, 5> comparisons = {"equal", "not_equal", "less", "greater", "has_bits"};

bool needs_code(std::uint32_t effect) {
  return effect == CUFAULT_EFFECT_FAIL || effect == CUFAULT_EFFECT_CALL_THEN_FAIL || effect == CUFAULT_EFFECT_STICKY ||
         effect == CUFAULT_EFFECT_ASYNC || effect == CUFAULT_EFFECT_REAL_FAULT;
}

std::uint32_t index_plus_1(const json_place& place, const std::vector<std::string>& known, std::string_view what) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return static_cast<std::uint32_t>(place.one_of(views, what) + 1);
}

std::uint32_t kind_plus_1(const json_place& place) {
  std::vector<std::string_view> known;
  for (const api::kind& kind : api::kinds()) known.push_back(kind.name);
  return static_cast<std::uint32_t>(place.one_of(known, "kind of handle") + 1);
}

std::vector<std::string> symbols_of_symbol(const json_place& place) {
  const std::string wanted = place.text();
  if (api::find_symbol(wanted) == nullptr) {
    std::vector<std::string_view> known;
    for (const api::symbol& entry : api::symbols()) known.push_back(entry.name);
    throw place.unknown("entry point", known);
  }
  return {wanted};
}

std::vector<std::string> symbols_of_class(const json_place& place, std::string_view class_name) {
  const names classes = api::classes();
  if (std::find(classes.begin(), classes.end(), class_name) == classes.end()) {
    const nlohmann::json name = std::string(class_name);
    throw json_place(name, place.path()).unknown("class of functions", classes);
  }
  std::vector<std::string> found;
  for (const api::symbol& entry : api::symbols()) {
    if (entry.in(class_name)) found.emplace_back(entry.name);
  }
  return found;
}

// A plain name, a glob or "each CLASS".
std::vector<std::string> symbols_at(const json_place& place) {
  const std::string wanted = place.text();
  if (wanted.starts_with("each ")) return symbols_of_class(place, std::string_view(wanted).substr(5));
  std::vector<std::string> found;
  const bool glob = wanted.find_first_of("*?[") != std::string::npos;
  for (const api::symbol& entry : api::symbols()) {
    const std::string function(entry.function);
    if (glob ? fnmatch(wanted.c_str(), function.c_str(), 0) == 0 : function == wanted) found.emplace_back(entry.name);
  }
  if (!found.empty()) return found;
  if (glob) throw request_error(place.path(), "no function fits '" + wanted + "'", wanted);
  if (api::find_symbol(wanted) != nullptr) {
    const std::string function(api::find_symbol(wanted)->function);
    throw request_error(place.path(),
                        "'" + wanted + "' is one ABI variant; write 'symbol: " + wanted +
                            "' for it alone, or the function's plain name",
                        wanted, function);
  }
  throw place.unknown("function", api::function_names());
}

void read_handle(const json_place& place, const plan& source, plan_rule& rule) {
  if (place.is_text()) {
    std::vector<std::string> known;
    for (const plan_handle& handle : source.handles) known.push_back(handle.name);
    rule.handle_name = index_plus_1(place, known, "handle");
    rule.handle_kind = source.handles[rule.handle_name - 1].kind;
    return;
  }
  place.only(std::array<std::string_view, 2>{"kind", "ordinal"});
  rule.handle_kind = kind_plus_1(place.need("kind"));
  rule.handle_ordinal = static_cast<std::uint32_t>(place.integer_or("ordinal", 0, 1, max_u32));
}

void read_thread(const json_place& place, plan_rule& rule) {
  if (place.is_text()) {
    static_cast<void>(place.one_of(std::array<std::string_view, 1>{"main"}, "thread"));
    rule.thread = CUFAULT_THREAD_MAIN;
    return;
  }
  place.only(std::array<std::string_view, 2>{"name", "ordinal"});
  if (const auto name = place.get("name")) {
    rule.thread = CUFAULT_THREAD_NAME;
    rule.thread_name = name->text();
  } else {
    rule.thread = CUFAULT_THREAD_ORDINAL;
    rule.thread_ordinal = static_cast<std::uint32_t>(place.need("ordinal").integer(1, max_u32));
  }
}

void read_argument(const json_place& place, plan_rule& rule) {
  place.only(std::array<std::string_view, 3>{"index", "compare", "value"});
  rule.argument = static_cast<std::uint32_t>(place.need("index").integer(0, 31));
  const auto compare = place.get("compare");
  rule.compare = compare ? static_cast<std::uint32_t>(compare->one_of(comparisons, "comparison") + 1)
                         : std::uint32_t{CUFAULT_COMPARE_EQUAL};
  rule.value = place.need("value").integer();
}

void read_where(const json_place& place, const plan& source, plan_rule& rule) {
  const auto at = place.get("at");
  const auto symbol = place.get("symbol");
  if (at.has_value() == symbol.has_value()) throw place.error("exactly one of 'at' and 'symbol' is needed");
  rule.symbols = at ? symbols_at(*at) : symbols_of_symbol(*symbol);
  if (const auto step = place.get("step")) rule.step = index_plus_1(*step, source.steps, "step");
  if (const auto handle = place.get("handle")) read_handle(*handle, source, rule);
  if (const auto thread = place.get("thread")) read_thread(*thread, rule);
  if (const auto argument = place.get("argument")) read_argument(*argument, rule);
  if (const auto role = place.get("switch")) {
    rule.switch_role = static_cast<std::uint32_t>(role->one_of(switch_roles, "switch role"));
  }
  if (const auto nested = place.get("nested")) {
    rule.nested = static_cast<std::uint32_t>(nested->one_of(nested_choices, "choice for nested calls"));
  }
  rule.context_ordinal = static_cast<std::uint32_t>(place.integer_or("context", 0, 1, max_u32));
  if (const auto device = place.get("device")) {
    rule.device_plus_1 = static_cast<std::uint32_t>(device->integer(0, max_u32 - 1) + 1);
  }
  rule.module = place.text_or("module", "");
  rule.native_frame = place.text_or("native_frame", "");
  rule.python_frame = place.text_or("python_frame", "");
  rule.unique_stack = place.boolean_or("unique_stack", false);
}

void read_when(const json_place& place, plan_rule& rule) {
  rule.from = place.integer_or("from", 1, 1);
  rule.every = place.integer_or("every", 1, 1);
  rule.limit = place.integer_or("limit", 0);
  rule.seed = place.integer_or("seed", 0);
  if (const auto probability = place.get("probability")) {
    rule.probability = probability->real();
    if (!(rule.probability > 0.0 && rule.probability <= 1.0)) {
      throw probability->error("a probability is more than 0 and at most 1");
    }
  }
}

std::int32_t read_code(const json_place& place) {
  const std::string wanted = place.text();
  const api::result* found = api::find_result(wanted);
  if (found == nullptr) {
    std::vector<std::string_view> known;
    for (const api::result& result : api::results()) known.push_back(result.name);
    throw place.unknown("result", known);
  }
  if (found->value == 0) throw place.error("CUDA_SUCCESS is no failure");
  return found->value;
}

void read_what(const json_place& place, plan_rule& rule) {
  const json_place effect = place.need("effect");
  rule.effect = static_cast<std::uint32_t>(effect.one_of(effects, "effect") + 1);
  const auto code = place.get("code");
  if (code && !needs_code(rule.effect)) throw code->error("the effect '" + effect.text() + "' takes no code");
  if (!code && needs_code(rule.effect)) throw place.error("the effect '" + effect.text() + "' needs 'code'");
  if (code) rule.code = read_code(*code);
  if (const auto scope = place.get("scope")) {
    if (rule.effect != CUFAULT_EFFECT_STICKY) throw scope->error("only the effect 'sticky' has a scope");
    rule.sticky_scope = static_cast<std::uint32_t>(scope->one_of(sticky_scopes, "scope"));
  }
  if (rule.effect == CUFAULT_EFFECT_DELAY) {
    rule.delay_ns = place.need("delay_ns").integer();
  }
  if (rule.effect == CUFAULT_EFFECT_CALLBACK) {
    rule.callback = place.need("callback").text();
  }
}

constexpr std::array<std::string_view, 26> fault_keys = {
    "label",        "at",           "symbol",       "effect",   "code",    "scope",  "from",
    "every",        "limit",        "step",         "handle",   "switch",  "nested", "after",
    "seed",         "thread",       "probability",  "argument", "context", "device", "module",
    "native_frame", "python_frame", "unique_stack", "delay_ns", "callback"};

void read_faults(const std::vector<json_place>& places, plan& source) {
  std::vector<std::string> labels;
  for (const json_place& place : places) {
    place.only(fault_keys);
    const std::string label = place.text_or("label", "f" + std::to_string(labels.size() + 1));
    if (label.empty()) throw place.error("a label is not empty");
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
      throw place.error("two faults are called '" + label + "'");
    }
    labels.push_back(label);
  }
  for (std::size_t index = 0; index < places.size(); ++index) {
    plan_rule rule;
    rule.label = labels[index];
    read_where(places[index], source, rule);
    read_when(places[index], rule);
    read_what(places[index], rule);
    if (const auto after = places[index].get("after")) {
      rule.after_rule = index_plus_1(*after, labels, "fault");
      if (rule.after_rule == index + 1) throw after->error("a fault cannot wait for itself");
    }
    source.rules.push_back(std::move(rule));
  }
}

void read_backend(const json_place& top, plan& source) {
  source.backend = static_cast<std::uint32_t>(top.need("backend").one_of(backends, "backend") + 1);
  source.backend_path = top.text_or("backend_path", "");
  if (source.backend != CUFAULT_BACKEND_REAL && source.backend_path.empty()) {
    throw top.error("this backend needs 'backend_path'");
  }
  const auto sim = top.get("sim");
  if (!sim) return;
  sim->only(std::array<std::string_view, 4>{"device_count", "driver_version", "seed", "profile"});
  source.sim_device_count = static_cast<std::uint32_t>(sim->integer_or("device_count", 0, 0, max_u32));
  source.sim_driver_version = static_cast<std::uint32_t>(sim->integer_or("driver_version", 0, 0, max_u32));
  source.sim_seed = sim->integer_or("seed", 0);
  source.sim_profile = sim->text_or("profile", "");
}

void read_names(const json_place& top, plan& source) {
  if (const auto steps = top.get("steps")) {
    for (const json_place& step : steps->items()) source.steps.push_back(step.text());
  }
  const auto handles = top.get("handles");
  if (!handles) return;
  for (const json_place& place : handles->items()) {
    place.only(std::array<std::string_view, 3>{"name", "kind", "step"});
    plan_handle handle;
    handle.name = place.need("name").text();
    handle.kind = kind_plus_1(place.need("kind"));
    if (const auto step = place.get("step")) handle.step = index_plus_1(*step, source.steps, "step");
    source.handles.push_back(std::move(handle));
  }
}

}  // namespace

std::string_view effect_name(std::uint32_t effect) {
  return effect >= 1 && effect <= effects.size() ? effects[effect - 1] : std::string_view{};
}

plan parse_plan_request(std::string_view json_text) {
  const nlohmann::json request = parse_request(json_text);
  const json_place top(request, "");
  top.only(std::array<std::string_view, 12>{"format", "run_folder", "backend", "backend_path", "trace", "stacks", "sim",
                                            "steps", "handles", "faults", "trace_segment_records",
                                            "trace_segments_per_thread"});
  static_cast<void>(top.need("format").integer(1, 1));
  plan source;
  source.run_folder = top.need("run_folder").text();
  if (!source.run_folder.starts_with('/')) throw top.need("run_folder").error("the run folder is an absolute path");
  source.trace = top.boolean_or("trace", true);
  source.stacks = top.boolean_or("stacks", false);
  source.trace_segment_records = static_cast<std::uint32_t>(top.integer_or("trace_segment_records", 0, 0, max_u32));
  source.trace_segments_per_thread =
      static_cast<std::uint32_t>(top.integer_or("trace_segments_per_thread", 0, 0, max_u32));
  read_backend(top, source);
  read_names(top, source);
  if (const auto faults = top.get("faults")) read_faults(faults->items(), source);
  return source;
}

}  // namespace cufault::judge

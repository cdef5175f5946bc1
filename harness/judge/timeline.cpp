// SPDX-License-Identifier: Apache-2.0
// A run as people and other programs read it.
#include "timeline.h"

#include <cufault/plan_format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "finding.h"
#include "text.h"

namespace cufault::judge {

namespace {

using nlohmann::json;

constexpr std::size_t most_entries = 2000;  // of a timeline: more is for `cufault trace`

std::string_view mark_of(const event& call) {
  if (call.open) return "open";
  if (call.has(CUFAULT_CALL_INJECTED)) return "injected";
  if (call.has(CUFAULT_CALL_FAULT_STATE)) return "fault_state";
  if (call.failed()) return "failed";
  if (call.has(CUFAULT_CALL_RESTORE)) return "restore";
  if (call.has(CUFAULT_CALL_ENTER)) return "enter";
  if (call.has(CUFAULT_CALL_NESTED)) return "nested";
  return "";
}

// A query that succeeded tells a reader nothing.
bool is_worth_telling(const event& call) {
  return call.open || call.failed() || call.has(CUFAULT_CALL_INJECTED) ||
         !(call.in("query") || call.in("passes_through"));
}

std::string text_of(const event& record, const trace& source) {
  switch (record.type) {
    case CUFAULT_RECORD_CALL:
      return render(record, source);
    case CUFAULT_RECORD_STEP_BEGIN:
      return "step '" + record.text + "' begins, current context " + hex(record.other);
    case CUFAULT_RECORD_STEP_END:
      return "step '" + record.text + "' ends, current context " + hex(record.other);
    case CUFAULT_RECORD_HANDLE_NAME:
      return hex(record.value) + " is called " + record.text;
    case CUFAULT_RECORD_UNMODELLED:
      return "the simulated driver has no model of " + record.name + ": " + record.text;
    case CUFAULT_RECORD_MISUSE:
      return "misuse in " + record.name + ": " + record.text;
    case CUFAULT_RECORD_LOOKUP:
      return "cuGetProcAddress(\"" + record.text + "\", " + std::to_string(record.value) + ")";
    default:
      return record.text;
  }
}

std::string_view type_name(std::uint16_t type) {
  switch (type) {
    case CUFAULT_RECORD_CALL:
      return "call";
    case CUFAULT_RECORD_STEP_BEGIN:
      return "step_begin";
    case CUFAULT_RECORD_STEP_END:
      return "step_end";
    case CUFAULT_RECORD_HANDLE_NAME:
      return "handle_name";
    case CUFAULT_RECORD_UNMODELLED:
      return "unmodelled";
    case CUFAULT_RECORD_MISUSE:
      return "misuse";
    case CUFAULT_RECORD_LOOKUP:
      return "lookup";
    default:
      return "note";
  }
}

std::string_view switch_name(const event& call) {
  return call.has(CUFAULT_CALL_ENTER) ? "enter" : call.has(CUFAULT_CALL_RESTORE) ? "restore" : "none";
}

json classes_of(const event& call) {
  json names = json::array();
  if (call.entry == nullptr) return names;
  for (const std::string_view name : api::classes()) {
    if (call.entry->in(name)) names.push_back(name);
  }
  return names;
}

// Names of steps by process and id, as the trace opened them.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> step_names(const trace& source) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  for (const event& record : source.events) {
    if (record.type == CUFAULT_RECORD_STEP_BEGIN) {
      names[{record.pid, static_cast<std::uint32_t>(record.value)}] = record.text;
    }
  }
  return names;
}

json step_json(const std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>& names, const event& record) {
  const auto found = names.find({record.pid, record.step});
  return found == names.end() ? json(nullptr) : json(found->second);
}

json call_details(const event& call) {
  json args = json::array();
  for (std::size_t index = 0; index < std::min<std::size_t>(call.argc, CUFAULT_TRACE_ARGS); ++index) {
    args.push_back(hex(call.args[index]));
  }
  json outs = json::object();
  for (std::size_t index = 0; index < call.outc; ++index) {
    outs[std::to_string(call.out_arg[index])] = hex(call.outs[index]);
  }
  return {{"symbol", call.name},
          {"function", call.function()},
          {"result", call.open ? json(nullptr) : json(api::result_text(call.given))},
          {"driver_result",
           call.open || call.real == CUFAULT_NOT_FORWARDED ? json(nullptr) : json(api::result_text(call.real))},
          {"args", std::move(args)},
          {"outs", std::move(outs)},
          {"classes", classes_of(call)},
          {"switch", switch_name(call)},
          {"mark", mark_of(call)},
          {"rule", call.rule},
          {"ordinal", call.ordinal},
          {"stack", call.stack},
          {"nested", call.has(CUFAULT_CALL_NESTED)},
          {"context_before", call.has(CUFAULT_CALL_CONTEXT_KNOWN) ? json(hex(call.context_before)) : json(nullptr)},
          {"context_after", call.has(CUFAULT_CALL_CONTEXT_KNOWN) ? json(hex(call.context_after)) : json(nullptr)}};
}

}  // namespace

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json timeline(const run& of) {
  std::vector<std::pair<std::uint64_t, json>> entries;
  for (const event& record : of.calls.events) {
    if (record.type == CUFAULT_RECORD_LOOKUP || record.type == CUFAULT_RECORD_NOTE) continue;
    if (record.is_call() && !is_worth_telling(record)) continue;
    json entry = {{"time_ns", record.begin_ns},
                  {"kind", type_name(record.type)},
                  {"text", text_of(record, of.calls)},
                  {"pid", record.pid},
                  {"thread", record.thread}};
    entry["mark"] = record.is_call() ? mark_of(record) : "";
    entries.emplace_back(record.begin_ns, std::move(entry));
  }
  for (const observed& event : of.showed.events) {
    std::string_view kind;
    switch (event.what) {
      case shown::exception:
        kind = "exception";
        break;
      case shown::warning:
        kind = "warning";
        break;
      case shown::unraisable:
        kind = "unraisable";
        break;
      case shown::report:
        kind = "report";
        break;
      case shown::finalizing:
        kind = "finalizing";
        break;
      case shown::exit:
        kind = "exit";
        break;
      default:
        continue;
    }
    std::string text = shortened(whole_text(event.error), 600);
    if (event.what == shown::finalizing) text = "the interpreter begins to finalize";
    if (event.what == shown::exit) text = of_exit(of).text;
    entries.emplace_back(event.time_ns, json{{"time_ns", event.time_ns},
                                             {"kind", kind},
                                             {"text", std::move(text)},
                                             {"pid", event.pid},
                                             {"thread", 0},
                                             {"mark", ""}});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  json out = json::array();
  for (auto& [time, entry] : entries) {
    static_cast<void>(time);
    if (out.size() == most_entries) {
      out.push_back({{"time_ns", entry["time_ns"]},
                     {"kind", "cut"},
                     {"mark", ""},
                     {"pid", 0},
                     {"thread", 0},
                     {"text", std::to_string(entries.size() - most_entries) + " more entries"}});
      break;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

json calls_summary(const trace& source) {
  std::uint64_t total = 0;
  std::uint64_t injected = 0;
  std::uint64_t lost = 0;
  std::set<std::string> unmodelled;
  json misuse = json::array();
  std::set<std::string> invisible;
  for (const process& owner : source.processes) {
    lost += owner.lost;
    if (owner.uncovered > 0) invisible.insert(std::to_string(owner.uncovered) + " names that only the driver exports");
  }
  for (const event& record : source.events) {
    if (record.is_call()) {
      ++total;
      if (record.has(CUFAULT_CALL_INJECTED)) ++injected;
    }
    if (record.type == CUFAULT_RECORD_UNMODELLED) {
      unmodelled.insert(record.name + (record.text.empty() ? "" : ": " + record.text));
    }
    if (record.type == CUFAULT_RECORD_MISUSE) misuse.push_back(record.name + ": " + record.text);
    if (record.type == CUFAULT_RECORD_LOOKUP && record.kind == CUFAULT_LOOKUP_PASSED) invisible.insert(record.text);
    if (record.type == CUFAULT_RECORD_NOTE && record.kind == CUFAULT_NOTE_EXPORT_TABLE) {
      invisible.insert("cuGetExportTable");
    }
  }
  return {{"total", total},           {"injected", injected}, {"lost", lost},
          {"unmodelled", unmodelled}, {"misuse", misuse},     {"invisible", invisible}};
}

json processes_summary(const trace& source) {
  constexpr std::string_view backends[] = {"unknown", "real", "simulated", "path"};
  json out = json::array();
  for (const process& owner : source.processes) {
    out.push_back({{"pid", owner.pid},
                   {"parent", owner.parent},
                   {"program", owner.program},
                   {"backend", backends[owner.backend <= CUFAULT_BACKEND_PATH ? owner.backend : 0]},
                   {"backend_path", owner.backend_path},
                   {"driver_version", owner.driver_version},
                   {"forked", owner.forked},
                   {"lost", owner.lost},
                   {"calls", owner.calls}});
  }
  return out;
}

std::string trace_as_json(const std::string& run_folder) {
  const trace source = read_trace(run_folder);
  const auto names = step_names(source);
  json events = json::array();
  for (const event& record : source.events) {
    json entry = {{"type", type_name(record.type)}, {"pid", record.pid},           {"thread", record.thread},
                  {"sequence", record.sequence},    {"begin_ns", record.begin_ns}, {"step", step_json(names, record)},
                  {"text", text_of(record, source)}};
    entry["end_ns"] = record.open ? json(nullptr) : json(record.end_ns);
    if (record.is_call()) {
      entry.update(call_details(record));
    } else {
      entry["kind"] = record.kind;
      entry["value"] = hex(record.value);
      entry["other"] = hex(record.other);
      if (!record.name.empty()) entry["symbol"] = record.name;
    }
    events.push_back(std::move(entry));
  }
  return dumped({{"format", 1}, {"processes", processes_summary(source)}, {"events", std::move(events)}});
}

std::string clean_run_points(const std::string& run_folder) {
  const trace source = read_trace(run_folder);
  const auto names = step_names(source);
  using key = std::tuple<std::uint32_t, std::uint32_t, std::string>;  // process, step (0: the whole run), name
  std::map<key, std::uint64_t> counts;
  json points = json::array();
  for (const event& call : source.events) {
    if (!call.is_call() || call.has(CUFAULT_CALL_NESTED)) continue;
    const std::string function(call.function());
    const auto next = [&](std::uint32_t in_step, const std::string& name) {
      return ++counts[{call.pid, in_step, name}];
    };
    json point = {{"symbol", call.name},
                  {"function", function},
                  {"classes", classes_of(call)},
                  {"switch", switch_name(call)},
                  {"step", step_json(names, call)},
                  {"pid", call.pid},
                  {"thread", call.thread},
                  {"result", call.open ? json(nullptr) : json(api::result_text(call.given))},
                  {"text", render(call, source)}};
    // A symbol and its plain name are spelt alike at times: the mark keeps their counts apart.
    point["ordinal_in_run"] = next(0, "symbol " + call.name);
    point["function_ordinal_in_run"] = next(0, "function " + function);
    point["ordinal_in_step"] = call.step == 0 ? json(nullptr) : json(next(call.step, "symbol " + call.name));
    point["function_ordinal_in_step"] = call.step == 0 ? json(nullptr) : json(next(call.step, "function " + function));
    points.push_back(std::move(point));
  }
  return dumped({{"format", 1}, {"points", std::move(points)}});
}

}  // namespace cufault::judge

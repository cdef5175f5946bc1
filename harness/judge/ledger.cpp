// SPDX-License-Identifier: Apache-2.0
// Follows every driver object through the trace by the roles of the functions that were called.
#include "ledger.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "text.h"

namespace cufault::judge {

namespace {

constexpr std::uint64_t user_object_move = 1;  // CU_GRAPH_USER_OBJECT_MOVE

class book_keeper {
 public:
  explicit book_keeper(const trace& source) : source_(source) {
    context_ = kind_index("context");
    primary_ = kind_index("primary_context");
    user_object_ = kind_index("user_object");
    graph_ = kind_index("graph");
    graph_exec_ = kind_index("graph_exec");
    device_ = kind_index("device");
    stream_ = kind_index("stream");
  }

  ledger run() {
    for (now_ = 0; now_ < source_.events.size(); ++now_) {
      const event& record = source_.events[now_];
      if (record.type == CUFAULT_RECORD_HANDLE_NAME) name(record);
      if (record.is_call() && !record.open && record.entry != nullptr) follow(record);
    }
    return std::move(book_);
  }

 private:
  static unsigned kind_index(std::string_view name) {
    const api::kind* found = api::find_kind(name);
    return found == nullptr ? ~0u : static_cast<unsigned>(found - api::kinds().data());
  }

  void follow(const event& call) {
    for (const api::role& role : call.entry->roles) {
      if (role.what == api::verb::uses) use(call, role);
    }
    for (const api::role& role : call.entry->roles) {
      if (role.what == api::verb::destroys) destroy(call, role);
      if (role.what == api::verb::releases) release(call, role);
    }
    for (const api::role& role : call.entry->roles) {
      if (role.what == api::verb::makes) make(call, role);
      if (role.what == api::verb::retains) retain(call, role);
    }
    if (call.happened()) copy_holdings(call);
  }

  static std::uint64_t argument(const event& call, int position) {
    return position >= 0 && position < CUFAULT_TRACE_ARGS ? call.args[static_cast<std::size_t>(position)] : 0;
  }

  // The handle in the argument itself; nothing where the argument only points to it.
  static std::optional<std::uint64_t> direct(const event& call, const api::role& role) {
    if (role.pointer || role.arg >= CUFAULT_TRACE_ARGS) return std::nullopt;
    return call.args[role.arg];
  }

  // The null stream and its two tokens, and every other null handle, stand for nothing that was made.
  bool stands_for_nothing(unsigned kind, std::uint64_t handle) const {
    return handle == 0 || (kind == stream_ && handle <= 2);
  }

  [[nodiscard]] std::size_t find(std::uint32_t pid, unsigned kind, std::uint64_t handle) const {
    const auto found = latest_.find({pid, kind, handle});
    return found == latest_.end() ? nowhere : found->second;
  }

  // A context may be a plain or a primary one: whoever uses it does not say which.
  [[nodiscard]] std::size_t find_any(std::uint32_t pid, unsigned kind, std::uint64_t handle) const {
    const std::size_t found = find(pid, kind, handle);
    if (kind != context_) return found;
    const std::size_t other = find(pid, primary_, handle);
    if (found == nowhere || other == nowhere) return found == nowhere ? other : found;
    return std::max(found, other);
  }

  void report(incident::what kind, std::size_t thing) { book_.incidents.push_back({kind, now_, thing}); }

  void use(const event& call, const api::role& role) {
    const std::optional<std::uint64_t> handle = direct(call, role);
    if (!handle || stands_for_nothing(role.kind, *handle)) return;
    const std::size_t found = find_any(call.pid, role.kind, *handle);
    if (found == nowhere || book_.objects[found].state != fate::destroyed) return;
    // Making a destroyed context current again is what restoring the caller's context comes to; the policy asks for it.
    if (call.entry->switching == api::switches::set || call.entry->switching == api::switches::push) return;
    report(incident::what::use_after_destroy, found);
  }

  std::size_t primary_of(const event& call, const api::role& role) const {
    const auto found = primary_of_device_.find({call.pid, argument(call, static_cast<int>(role.arg))});
    return found == primary_of_device_.end() ? nowhere : find(call.pid, primary_, found->second);
  }

  void destroy(const event& call, const api::role& role) {
    if (role.kind == primary_) {
      // A reset ends what lives in the context; the retentions stay, and a later retain revives the same handle.
      const std::size_t primary = primary_of(call, role);
      if (primary != nowhere && call.happened()) end_dependents(book_.objects[primary]);
      return;
    }
    const std::optional<std::uint64_t> handle = direct(call, role);
    if (!handle || stands_for_nothing(role.kind, *handle)) return;
    const std::size_t found = find(call.pid, role.kind, *handle);
    if (found == nowhere) return;
    object& thing = book_.objects[found];
    thing.attempts.push_back(now_);
    switch (thing.state) {
      case fate::destroyed:
        report(incident::what::double_destroy, found);
        return;
      case fate::indeterminate:
        report(incident::what::destroy_of_indeterminate, found);
        return;
      case fate::died_with_owner:
      case fate::replaced:
        return;
      case fate::alive:
        break;
    }
    end(call, thing);
  }

  void release(const event& call, const api::role& role) {
    std::size_t found = nowhere;
    if (role.kind == primary_) {
      found = primary_of(call, role);
    } else if (const std::optional<std::uint64_t> handle = direct(call, role)) {
      found = find(call.pid, role.kind, *handle);
    }
    if (found == nowhere) return;
    object& thing = book_.objects[found];
    thing.attempts.push_back(now_);
    if (thing.state == fate::destroyed) {
      report(incident::what::double_destroy, found);
      return;
    }
    if (thing.state != fate::alive) {
      if (thing.state == fate::indeterminate && role.holder < 0)
        report(incident::what::destroy_of_indeterminate, found);
      return;
    }
    const auto times = static_cast<std::int64_t>(role.times < 0 ? 1 : argument(call, role.times));
    std::int64_t& count = role.holder < 0 ? thing.references : thing.held[argument(call, role.holder)];
    count -= times;
    // A failed release may have given its reference up or not; that of another reference is no second try of it.
    thing.doubtful = thing.doubtful || !call.succeeded() || !call.happened();
    if (count < 0) report(incident::what::release_of_too_many, found);
    if (thing.total() > 0) return;
    end(call, thing);
    if (thing.doubtful) thing.state = fate::indeterminate;
  }

  void end(const event& call, object& thing) {
    thing.died = now_;
    if (!call.succeeded() || !call.happened()) {
      thing.state = fate::indeterminate;
      return;
    }
    thing.state = fate::destroyed;
    end_dependents(thing);
    if (thing.kind == graph_ || thing.kind == graph_exec_) let_go(thing);
  }

  // What lives in a context, on a green context or in a graph goes with it.
  void end_dependents(const object& owner) {
    const std::uint64_t handle = owner.handle;
    const unsigned kind = owner.kind;
    const std::uint32_t pid = owner.pid;
    for (object& thing : book_.objects) {
      if (thing.state != fate::alive || thing.pid != pid || thing.owner != handle) continue;
      const std::vector<unsigned>& owners = api::kinds()[thing.kind].dies_with;
      if (std::find(owners.begin(), owners.end(), kind) == owners.end()) continue;
      thing.state = fate::died_with_owner;
      thing.died = now_;
    }
  }

  // A graph that is gone holds no user objects any more.
  void let_go(const object& holder) {
    for (object& thing : book_.objects) {
      if (thing.kind != user_object_ || thing.pid != holder.pid || thing.held.erase(holder.handle) == 0) continue;
      if (thing.state == fate::alive && thing.total() <= 0) {
        thing.state = fate::destroyed;
        thing.died = now_;
      }
    }
  }

  std::uint64_t owner_of(const event& call, unsigned kind) const {
    const std::vector<unsigned>& owners = api::kinds()[kind].dies_with;
    for (const api::role& role : call.entry->roles) {
      if (role.what != api::verb::uses) continue;
      const std::optional<std::uint64_t> handle = direct(call, role);
      if (handle && std::find(owners.begin(), owners.end(), role.kind) != owners.end()) return *handle;
    }
    const bool in_context = std::find(owners.begin(), owners.end(), context_) != owners.end();
    return in_context && call.has(CUFAULT_CALL_CONTEXT_KNOWN) ? call.context_before : 0;
  }

  object& add(const event& call, unsigned kind, std::uint64_t handle) {
    const std::size_t before = find(call.pid, kind, handle);
    if (handle != 0 && before != nowhere && book_.objects[before].state == fate::alive) {
      book_.objects[before].state = fate::replaced;
      book_.objects[before].died = now_;
    }
    object thing;
    thing.kind = kind;
    thing.handle = handle;
    thing.pid = call.pid;
    thing.born = now_;
    thing.owner = owner_of(call, kind);
    if (!call.succeeded()) {
      thing.state = fate::indeterminate;
      thing.died = now_;
    }
    if (handle != 0) latest_[{call.pid, kind, handle}] = book_.objects.size();
    book_.objects.push_back(std::move(thing));
    return book_.objects.back();
  }

  void make(const event& call, const api::role& role) {
    if (!call.happened()) return;
    // More than one handle behind a pointer is in no record.
    if (role.count >= 0) return;
    const std::uint64_t handle =
        role.out ? call.out_of(role.arg).value_or(0) : argument(call, static_cast<int>(role.arg));
    if (handle == 0 && call.succeeded()) return;
    object& thing = add(call, role.kind, handle);
    if (role.times >= 0) thing.references = static_cast<std::int64_t>(argument(call, role.times));
  }

  void retain(const event& call, const api::role& role) {
    if (!call.happened()) return;
    const std::uint64_t handle =
        role.out ? call.out_of(role.arg).value_or(0) : argument(call, static_cast<int>(role.arg));
    if (handle == 0) return;
    std::size_t found = find(call.pid, role.kind, handle);
    const auto times = static_cast<std::int64_t>(role.times < 0 ? 1 : argument(call, role.times));
    if (role.kind == primary_) {
      for (const api::role& other : call.entry->roles) {
        if (other.kind == device_ && other.what == api::verb::uses) {
          primary_of_device_[{call.pid, argument(call, static_cast<int>(other.arg))}] = handle;
        }
      }
    }
    if (found == nowhere || book_.objects[found].state != fate::alive) {
      // Somebody else's object: what is counted is what was retained here.
      add(call, role.kind, handle).references = 0;
      found = book_.objects.size() - 1;
      if (!call.succeeded()) return;
    }
    object& thing = book_.objects[found];
    if (role.holder < 0) {
      thing.references += times;
      return;
    }
    thing.held[argument(call, role.holder)] += times;
    const auto& params = call.entry->params;
    const auto flags = std::find(params.begin(), params.end(), "flags");
    if (flags != params.end() && argument(call, static_cast<int>(flags - params.begin())) == user_object_move) {
      thing.references -= times;
    }
  }

  // A clone, an executable graph and a parent of a child graph hold what the graph they came from holds.
  void copy_holdings(const event& call) {
    std::vector<std::uint64_t> graphs;
    for (const api::role& role : call.entry->roles) {
      const std::optional<std::uint64_t> handle = direct(call, role);
      if (role.what == api::verb::uses && role.kind == graph_ && handle) graphs.push_back(*handle);
    }
    if (graphs.empty()) return;
    std::optional<std::uint64_t> receiver;
    for (const api::role& role : call.entry->roles) {
      if (role.what == api::verb::makes && (role.kind == graph_ || role.kind == graph_exec_)) {
        receiver = call.out_of(role.arg);
      }
    }
    if (!receiver && graphs.size() == 2) receiver = graphs[0];
    if (!receiver) return;
    for (object& thing : book_.objects) {
      const auto held = thing.held.find(graphs.back());
      if (thing.pid == call.pid && held != thing.held.end() && held->second > 0) {
        const std::int64_t count = held->second;
        thing.held[*receiver] += count;
      }
    }
  }

  void name(const event& record) {
    if (record.kind == 0) return;
    const std::size_t found = find_any(record.pid, record.kind - 1, record.value);
    if (found == nowhere) return;
    std::vector<std::string>& names = book_.objects[found].names;
    if (std::find(names.begin(), names.end(), record.text) == names.end()) names.push_back(record.text);
  }

  const trace& source_;
  ledger book_;
  std::size_t now_ = 0;
  std::map<std::tuple<std::uint32_t, unsigned, std::uint64_t>, std::size_t> latest_;
  std::map<std::tuple<std::uint32_t, std::uint64_t>, std::uint64_t> primary_of_device_;
  unsigned context_, primary_, user_object_, graph_, graph_exec_, device_, stream_;
};

}  // namespace

bool object::is_named(std::string_view name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::int64_t object::total() const {
  std::int64_t sum = references;
  for (const auto& [holder, count] : held) {
    static_cast<void>(holder);
    sum += count;
  }
  return sum;
}

std::string_view object::kind_name() const { return api::kinds()[kind].name; }

std::vector<const object*> ledger::named(std::string_view name) const {
  std::vector<const object*> found;
  for (const object& thing : objects) {
    if (thing.is_named(name)) found.push_back(&thing);
  }
  return found;
}

bool ledger::alive_after(const object& thing, std::size_t event) {
  return thing.born <= event && (thing.died == nowhere || thing.died > event);
}

ledger make_ledger(const trace& source) { return book_keeper(source).run(); }

std::string describe(const object& thing) {
  std::string text(thing.kind_name());
  text += thing.handle == 0 ? " of unknown handle" : " " + hex(thing.handle);
  for (const std::string& name : thing.names) text += " (" + name + ")";
  return text;
}

}  // namespace cufault::judge

// SPDX-License-Identifier: Apache-2.0
// The ledger: every driver object of a run, from birth to death, and what was done to it that must not be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace.h"

namespace cufault::judge {

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

enum class fate : std::uint8_t {
  alive,
  destroyed,        // the driver destroyed it and said so
  indeterminate,    // a destroy was called and answered an error, or a create happened and answered one
  died_with_owner,  // its context, graph, ... went
  replaced          // the driver gave its handle to a new object: its death was not seen
};

struct object {
  unsigned kind = 0;         // index into api::kinds()
  std::uint64_t handle = 0;  // 0: a create that happened, answered an error and left no handle
  std::uint32_t pid = 0;
  std::size_t born = nowhere;  // index into trace::events
  std::size_t died = nowhere;
  fate state = fate::alive;
  std::uint64_t owner = 0;                     // context or graph that it goes with; 0: none, or not known
  std::int64_t references = 1;                 // held by the caller
  bool doubtful = false;                       // a release failed, so the driver may count one more
  std::map<std::uint64_t, std::int64_t> held;  // by holders: graphs and executable graphs
  std::vector<std::size_t> attempts;           // every call that was to destroy or release it
  std::vector<std::string> names;              // that the scenario or program gave it

  [[nodiscard]] bool is_named(std::string_view name) const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::string_view kind_name() const;
};

struct incident {
  enum class what : std::uint8_t { use_after_destroy, double_destroy, destroy_of_indeterminate, release_of_too_many };
  what kind;
  std::size_t call;   // index into trace::events
  std::size_t thing;  // index into ledger::objects
};

struct ledger {
  std::vector<object> objects;  // in order of birth
  std::vector<incident> incidents;

  // The objects that carry that name, in order of birth.
  [[nodiscard]] std::vector<const object*> named(std::string_view name) const;
  // Was the object alive right after that event?
  [[nodiscard]] static bool alive_after(const object& thing, std::size_t event);
};

[[nodiscard]] ledger make_ledger(const trace& source);

// "stream 0x5581 (s)"
[[nodiscard]] std::string describe(const object& thing);

}  // namespace cufault::judge

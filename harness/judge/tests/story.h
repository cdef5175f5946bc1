// SPDX-License-Identifier: Apache-2.0
// A run told call by call, for tests of the ledger, the oracles and the verdict: no file, no process.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "finding.h"
#include "run.h"

namespace cufault::judge::testing {

inline constexpr int invalid_context = 201;
inline constexpr int out_of_memory = 2;
inline constexpr int deinitialized = 4;
inline constexpr int illegal_address = 700;

inline constexpr std::uint64_t home = 0xc0de0000;   // the caller's context
inline constexpr std::uint64_t other = 0xc0de1000;  // the library's
inline constexpr std::uint64_t stream_s = 0x5000;

using numbers = std::initializer_list<std::uint64_t>;

// Time goes on by itself. One process (pid 1), thread 1 unless `on_thread` says otherwise.
class story {
 public:
  story();

  story& begin(std::string name, std::string verb, std::string channel, std::string thing = {},
               bool changes_context = false);
  story& end(std::string outcome = "ok");
  // A step of the trace that no observation tells of.
  story& begin_unseen(std::string name);

  story& on_thread(std::uint32_t thread);

  // A call that succeeds; `made` is what it wrote where its role says that it makes, finds or retains something.
  story& call(std::string_view symbol, numbers args, std::uint64_t made = 0);
  // Injected: the driver was not asked, and `code` was answered.
  story& fails(std::string_view symbol, numbers args, int code);
  // Injected: the driver did it, and `code` was answered.
  story& does_and_fails(std::string_view symbol, numbers args, int code, std::uint64_t made = 0);
  // The driver itself failed it.
  story& driver_fails(std::string_view symbol, numbers args, int code);
  // As the last call, answered by an earlier sticky fault.
  story& in_fault_state();
  story& nested();
  story& never_returned();
  story& by_rule(std::uint32_t rule);

  // cuCtxSetCurrent with its role against the step's context.
  story& enters(std::uint64_t context);
  story& restores(std::uint64_t context);
  story& enter_fails(std::uint64_t context, int code);
  story& restore_fails(std::uint64_t context, int code);
  // What is current from here on, without a call.
  story& current(std::uint64_t context);

  story& raises(std::string type, std::string message, int code = 0, std::vector<std::string> notes = {},
                std::string module = "lib");
  story& unhandled(std::string type, std::string message);
  story& warns(std::string message, std::string category = "CUDAWarning", std::string base = "RuntimeWarning");
  story& unraisable(std::string type, std::string message, std::vector<std::string> warning_mro = {});
  story& report(std::string message);
  story& writes_to_stderr(std::string text);
  story& named(std::string name, std::string kind, std::uint64_t handle);
  story& finalizes();
  story& exits(int status);
  story& dies_of(std::string signal);
  story& times_out();
  story& program_filters_warnings();

  story& record(std::uint16_t type, std::string_view symbol, std::uint32_t kind, std::string text);
  story& planned(std::uint32_t effect, std::string_view at, int code = 0);
  story& lost(std::uint64_t records);

  [[nodiscard]] run told(std::string_view profile_name = "rfc") const;
  [[nodiscard]] finding found(std::string_view rule, std::string_view profile_name = "rfc") const;

 private:
  event& add(std::string_view symbol, numbers args, std::uint64_t made);
  event& last();
  observed& show(shown what);

  trace calls_;
  observation showed_;
  std::optional<plan> plan_;
  std::uint64_t now_ = 1000;
  std::uint64_t current_ = home;
  std::uint32_t thread_ = 1;
  std::uint32_t opener_ = 1;
  std::uint32_t steps_ = 0;
  std::uint32_t open_ = 0;
  std::string open_name_;
  bool seen_ = true;
};

// The message that a conforming library gives such a failure.
[[nodiscard]] std::string message_of(int code);
// And the report of a failed destroy.
[[nodiscard]] std::string report_of(std::string_view function, int code, std::uint64_t handle);

}  // namespace cufault::judge::testing

// SPDX-License-Identifier: Apache-2.0
// What an oracle finds: a status, the problems with their evidence, and one sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy.h"
#include "run.h"

namespace cufault::judge {

struct evidence {
  std::string what;  // call, object, exception, warning, unraisable, stderr, exit, text
  std::string text;
  std::uint32_t pid = 0;
  std::uint32_t thread = 0;
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;
  std::string step;
  std::string symbol;
};

struct problem {
  author by;
  std::string reason;  // one sentence
  std::vector<evidence> proof;
  std::uint64_t established_ns;  // from when on it was certain: what came later has no part in it
};

enum class outcome : std::uint8_t { holds, violated, not_exercised, inconclusive };

struct finding {
  outcome status = outcome::not_exercised;
  std::string reason;
  std::vector<problem> problems;
  std::vector<evidence> proof;  // where it holds: some of what exercised it
};

// Collects what an oracle sees. Violations weigh more than doubts, doubts more than what holds.
class finder {
 public:
  // `by`: who states the rule. `unexercised`: the sentence for a run in which nothing could show it.
  finder(author by, std::string unexercised) : by_(by), unexercised_(std::move(unexercised)) {}

  // The rule was put to the test by this.
  void exercised(evidence proof);
  // The rule was broken; counts as exercised too.
  void violated(std::string reason, std::vector<evidence> proof, std::uint64_t established_ns);
  // The same, where somebody else than the rule's author states this part.
  void violated(author by, std::string reason, std::vector<evidence> proof, std::uint64_t established_ns);
  // It was put to the test, and nobody can tell from this run how it ended.
  void doubt(std::string reason);

  [[nodiscard]] finding result(std::string holds) const;

 private:
  author by_;
  std::string unexercised_;
  std::size_t exercised_ = 0;
  std::vector<evidence> proof_;
  std::vector<problem> problems_;
  std::string doubt_;
};

[[nodiscard]] evidence of_call(const run& of, std::size_t index);
[[nodiscard]] evidence of_call(const run& of, const failure& failed);
[[nodiscard]] evidence of_shown(const run& of, std::size_t index);
[[nodiscard]] evidence of_channel(const run& of, const channel_use& use);
[[nodiscard]] evidence of_object(const run& of, const object& thing);
[[nodiscard]] evidence of_step(const step& in, std::string text);
[[nodiscard]] evidence of_exit(const run& of);

// When it is certain that a failure showed in no further channel: the end of its step, or of the run.
[[nodiscard]] std::uint64_t settled_ns(const run& of, const failure& failed);

// The process died, or never came to the end of the failure's step, so that what it would have shown is not known.
[[nodiscard]] bool cut_short(const run& of, const failure& failed);

struct oracle {
  std::string_view rule;
  finding (*judge)(const run& of);
};

// Sorted by rule; a rule without one cannot be judged.
[[nodiscard]] std::span<const oracle> all_oracles();
[[nodiscard]] const oracle* find_oracle(std::string_view rule);

}  // namespace cufault::judge

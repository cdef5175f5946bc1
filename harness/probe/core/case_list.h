// SPDX-License-Identifier: Apache-2.0
// The table of cases: a name, a function, and how its rows hang together.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace probe {

enum class Rows {
  chained,      // each row depends on those before: where one ends the process, the case is over
  independent,  // where a row ends the process, the case runs again without it
};

struct Case {
  std::string name;
  Rows rows;
  std::function<void()> body;
  unsigned devices = 1;  // how many the machine must have
};

class CaseList {
 public:
  void chained(std::string name, std::function<void()> body) {
    cases_.push_back({std::move(name), Rows::chained, std::move(body)});
  }
  void independent(std::string name, std::function<void()> body) {
    cases_.push_back({std::move(name), Rows::independent, std::move(body)});
  }
  void on_two_devices(std::string name, std::function<void()> body) {
    cases_.push_back({std::move(name), Rows::chained, std::move(body), 2});
  }

  [[nodiscard]] const std::vector<Case>& all() const { return cases_; }

 private:
  std::vector<Case> cases_;
};

}  // namespace probe

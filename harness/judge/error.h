// SPDX-License-Identifier: Apache-2.0
// The two ways in which the judge itself refuses to work.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cufault::judge {

// A request (plan, judge) says something that cannot be meant. `path` is the place in the request, "faults[0].at";
// `value` what stood there, `nearest` what was probably meant (empty: nothing comes near). what() holds it all.
class request_error : public std::runtime_error {
 public:
  request_error(std::string path, const std::string& problem, std::string value = {}, std::string nearest = {})
      : std::runtime_error((path.empty() ? "" : path + ": ") + problem +
                           (nearest.empty() ? "" : "; the nearest right name is '" + nearest + "'")),
        path_(std::move(path)),
        value_(std::move(value)),
        nearest_(std::move(nearest)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& nearest() const noexcept { return nearest_; }

 private:
  std::string path_;
  std::string value_;
  std::string nearest_;
};

// A file that the harness itself wrote cannot be read: the run's verdict is a harness error.
class file_error : public std::runtime_error {
 public:
  file_error(const std::string& file, const std::string& problem) : std::runtime_error(file + ": " + problem) {}
};

}  // namespace cufault::judge

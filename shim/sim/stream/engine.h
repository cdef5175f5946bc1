// SPDX-License-Identifier: Apache-2.0
// Runs the work of streams: in order, as early as what it waits for allows, always the same way.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/thread.h"

namespace cufault::sim {

class Driver;
struct Stream;

// A place in a stream: reached once everything submitted up to it has completed.
struct Point {
  std::shared_ptr<Stream> stream;
  std::uint64_t sequence = 0;

  [[nodiscard]] bool reached() const noexcept;
};

struct Operation {
  std::function<void()> run;         // may be empty
  std::vector<Point> after;          // runs when all are reached
  std::function<bool()> condition;   // and this holds, if there is one; asked again and again
  Callback application = Callback::none;  // not none: calls into the application, so it runs on a driver thread, unlocked
  bool started = false;
};

// The calling thread runs whatever can run at once; what must call into the application goes to driver threads. One
// driver thread serves these in order of readiness; only when a function does not return soon does a second one start,
// so that short callbacks keep one order and long ones cannot block the process. All members need the driver's lock.
class Engine {
 public:
  explicit Engine(Driver& driver) : driver_(driver) {}

  // Returns the operation's place in the stream.
  std::uint64_t submit(const std::shared_ptr<Stream>& stream, Operation operation);
  // Runs a function of the application on a driver thread, in no stream (destructors of what a launched graph held).
  void call_later(std::function<void()> function);
  // Runs everything that has become ready.
  void pump();
  // Streams with work that has not completed, in order of creation.
  [[nodiscard]] const std::vector<std::shared_ptr<Stream>>& busy() const noexcept { return busy_; }

 private:
  struct Task {
    std::shared_ptr<Stream> stream;  // null: in no stream
    std::function<void()> run;
    Callback kind;
  };

  [[nodiscard]] bool advance(const std::shared_ptr<Stream>& stream);
  void complete_front(Stream& stream);
  void start_task(Task task);
  void serve();

  Driver& driver_;
  std::vector<std::shared_ptr<Stream>> busy_;
  std::deque<Task> tasks_;
  std::condition_variable task_added_;
  std::uint64_t taken_ = 0;
  unsigned threads_ = 0;
  unsigned running_ = 0;
  unsigned conditions_ = 0;
  bool pumping_ = false;
  bool again_ = false;
};

}  // namespace cufault::sim

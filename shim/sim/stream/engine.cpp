// SPDX-License-Identifier: Apache-2.0
// The engine: which operation may run now, and the driver threads that call into the application.
#include "stream/engine.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/driver.h"
#include "core/report.h"
#include "stream/stream.h"

namespace cufault::sim {

namespace {
constexpr auto kPatience = std::chrono::milliseconds(2);     // how long one application function holds the others up
constexpr auto kAskAgain = std::chrono::microseconds(200);   // how often a condition on memory is looked at
}  // namespace

bool Point::reached() const noexcept { return stream == nullptr || stream->completed >= sequence; }

std::uint64_t Engine::submit(const std::shared_ptr<Stream>& stream, Operation operation) {
  const std::uint64_t sequence = ++stream->submitted;
  const bool idle = stream->queue.empty();
  if (idle && operation.application == Callback::none && !operation.condition &&
      std::all_of(operation.after.begin(), operation.after.end(), [](const Point& p) { return p.reached(); })) {
    if (operation.run && driver_.fault() == CUDA_SUCCESS) operation.run();
    stream->completed = sequence;
    return sequence;
  }
  if (operation.condition) {
    ++conditions_;
    // Someone has to look at the condition: a thread that sleeps because there was none does not know of it.
    if (threads_ == 0) start_task({nullptr, {}, Callback::none});
    else task_added_.notify_one();
  }
  stream->queue.push_back(std::move(operation));
  if (idle) {
    const auto later = [](const std::shared_ptr<Stream>& a, const std::shared_ptr<Stream>& b) { return a->id < b->id; };
    busy_.insert(std::upper_bound(busy_.begin(), busy_.end(), stream, later), stream);
  }
  pump();
  return sequence;
}

void Engine::complete_front(Stream& stream) {
  if (stream.queue.front().condition) --conditions_;
  stream.queue.pop_front();
  ++stream.completed;
}

bool Engine::advance(const std::shared_ptr<Stream>& stream) {
  bool progress = false;
  while (!stream->queue.empty()) {
    Operation& next = stream->queue.front();
    // After a fault nothing runs any more, but whoever waits must come back to hear of it.
    const bool faulted = driver_.fault() != CUDA_SUCCESS;
    if (next.started) break;
    if (!faulted) {
      if (!std::all_of(next.after.begin(), next.after.end(), [](const Point& p) { return p.reached(); })) break;
      if (next.condition && !next.condition()) break;
      if (next.application != Callback::none) {
        next.started = true;
        start_task({stream, std::move(next.run), next.application});
        break;
      }
      if (next.run) next.run();
    }
    complete_front(*stream);
    progress = true;
  }
  return progress;
}

void Engine::pump() {
  if (pumping_) {
    again_ = true;
    return;
  }
  pumping_ = true;
  bool progress = true;
  while (progress || again_) {
    progress = again_ = false;
    for (std::size_t i = 0; i < busy_.size(); ++i) {
      const std::shared_ptr<Stream> stream = busy_[i];
      progress = advance(stream) || progress;
    }
  }
  std::erase_if(busy_, [](const std::shared_ptr<Stream>& stream) { return stream->queue.empty(); });
  pumping_ = false;
  driver_.changed.notify_all();
}

void Engine::call_later(std::function<void()> function) {
  start_task({nullptr, std::move(function), Callback::host_function});
}

void Engine::start_task(Task task) {
  tasks_.push_back(std::move(task));
  if (threads_ == running_) {
    ++threads_;
    std::thread([this] { serve(); }).detach();
  }
  task_added_.notify_one();
}

void Engine::serve() {
  Thread& self = this_thread();
  std::unique_lock lock(driver_.mutex);
  while (true) {
    if (tasks_.empty()) {
      if (conditions_ == 0) {
        task_added_.wait(lock);
      } else {
        task_added_.wait_for(lock, kAskAgain);
        pump();
      }
      continue;
    }
    if (running_ != 0) {
      const std::uint64_t before = taken_;
      task_added_.wait_for(lock, kPatience);
      if (tasks_.empty() || taken_ != before) continue;
    }
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++taken_;
    ++running_;
    // Another thread stands by while this one is away in the application.
    if (threads_ == running_ && !tasks_.empty()) {
      ++threads_;
      std::thread([this] { serve(); }).detach();
    }
    lock.unlock();
    if (task.run) {
      const CallbackBracket bracket;
      self.callback = task.kind;
      task.run();
      self.callback = Callback::none;
    }
    lock.lock();
    task.run = nullptr;  // what it captured may be the last reference to something, whose end needs the lock
    if (!self.owed.empty()) {
      lock.unlock();
      pay(self);
      lock.lock();
    }
    --running_;
    if (task.stream != nullptr) complete_front(*task.stream);
    pump();
  }
}

}  // namespace cufault::sim

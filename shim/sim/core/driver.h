// SPDX-License-Identifier: Apache-2.0
// The process-wide state of the simulated driver.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api.h"
#include "core/handles.h"
#include "memory/address_space.h"
#include "stream/engine.h"

namespace cufault::sim {

struct Device;

struct Configuration {
  unsigned device_count = 1;
  int driver_version = 13000;
  std::uint64_t seed = 0;
  std::string profile;
};

enum class Phase : std::uint8_t { fresh, initialised, torn_down };

// One per process, never destroyed: the last call may come after every destructor has run.
class Driver {
 public:
  [[nodiscard]] static Driver& get() noexcept;

  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Before the first initialise().
  void configure(const Configuration& wanted) { configuration_ = wanted; }
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }

  [[nodiscard]] Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  // True in a child that was forked after the parent initialised: nothing works there any more.
  [[nodiscard]] bool forked() const noexcept { return forked_.load(std::memory_order_relaxed); }
  void initialise();  // caller holds `mutex`

  // Device by ordinal; refuses with INVALID_DEVICE.
  [[nodiscard]] Device& device(CUdevice ordinal);
  [[nodiscard]] std::size_t device_count() const noexcept { return devices_.size(); }

  // The code of a kernel's fault, once a kernel has faulted: from then on every call that reports faults answers it.
  [[nodiscard]] CUresult fault() const noexcept { return fault_.load(std::memory_order_acquire); }
  void set_fault(CUresult code) noexcept;

  [[nodiscard]] std::uint64_t next_id() noexcept { return ++ids_; }

  std::mutex mutex;
  std::condition_variable changed;  // work completed somewhere
  HandleTable* const handles;
  AddressSpace memory;  // guarded by `mutex`, like all that follows
  Engine engine;

 private:
  Driver();
  ~Driver() = delete;

  Configuration configuration_;
  std::atomic<Phase> phase_{Phase::fresh};
  std::atomic<bool> forked_{false};
  std::atomic<CUresult> fault_{CUDA_SUCCESS};
  std::atomic<std::uint64_t> ids_{0};
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace cufault::sim

// SPDX-License-Identifier: Apache-2.0
// What a device is made of.
#include "device/device.h"

#include <cstdio>
#include <cstring>

#include "context/context.h"
#include "core/driver.h"
#include "memory/pool.h"

namespace cufault::sim {

Device::Device(CUdevice number) : ordinal(number), profile(recorded_profile()) {
  // A made-up unit, the same in every run and another for every ordinal.
  const char name[] = "cufault-sim-gpu";
  std::memcpy(uuid.bytes, name, sizeof uuid.bytes);
  uuid.bytes[15] = static_cast<char>(number);
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", 0u, static_cast<unsigned>(4 + number), 0u);
  bus_id = text;
  primary = std::make_shared<Context>(*this, 0, true, Driver::get().next_id());
  primary->self = Driver::get().handles->insert(Kind::context, primary);
  default_pool = Pool::default_of(*this);
  current_pool = default_pool;
}

Device::~Device() = default;

}  // namespace cufault::sim

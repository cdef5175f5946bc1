// SPDX-License-Identifier: Apache-2.0
// Opens the driver and keeps what was found in it.
#include "core/driver.h"

#include <cufault/sim_host.h>
#include <dlfcn.h>

namespace probe::driver {
namespace {

void* library = nullptr;
thread_local bool missing = false;

std::string attach(unsigned devices) {
  const auto attach_host = reinterpret_cast<decltype(&cufault_sim_attach)>(find("cufault_sim_attach"));
  if (attach_host == nullptr) return "not a simulated driver: the number of its devices cannot be chosen";
  static cufault_sim_host host{};
  host.version = CUFAULT_SIM_HOST_VERSION;
  host.device_count = devices;
  host.profile = "";
  return attach_host(&host) == 0 ? "" : "the simulated driver speaks another version of sim_host.h";
}

}  // namespace

std::string open(const std::string& path, unsigned simulated_devices) {
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  for (std::size_t i = 0; i < entry_count; i++) entries[i] = dlsym(library, entry_names[i]);
  return simulated_devices == 0 ? "" : attach(simulated_devices);
}

void* find(const char* symbol) { return dlsym(library, symbol); }

bool take_missing() {
  const bool was = missing;
  missing = false;
  return was;
}

void remember_missing() { missing = true; }

}  // namespace probe::driver

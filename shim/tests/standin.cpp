// SPDX-License-Identifier: Apache-2.0
// The stand-in driver: context stacks, handles by number, look-ups, call-backs.
#include "standin.h"

#include <pthread.h>

#include <atomic>
#include <string_view>
#include <vector>

#include "faults/handle_roles.h"

namespace standin {
namespace {

using namespace cufault;

constexpr int version = 13050;

struct entry_state {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::int32_t> result{0};
  std::atomic<void (*)(void *)> call_back{nullptr};
  std::atomic<void *> data{nullptr};
};
entry_state entries[api::symbol_count];
std::atomic<std::uint64_t> next_handle{0x1000};
thread_local std::vector<std::uint64_t> contexts;

std::uint64_t primary_context(std::uint64_t device) noexcept { return 0xc0000 + device * 16; }
std::uint64_t current() noexcept { return contexts.empty() ? 0 : contexts.back(); }

template <class T>
void write(std::uint64_t pointer, T value) noexcept {
  if (pointer != 0) std::memcpy(reinterpret_cast<void *>(pointer), &value, sizeof value);
}

void make_handles(std::uint32_t symbol, const std::uint64_t *args) noexcept {
  const faults::out_handles &outs = faults::outs_of(symbol);
  for (std::size_t i = 0; i < outs.count; ++i) {
    if (outs.at[i].verb != api::role_verb::makes) continue;
    const std::uint64_t handle = next_handle.fetch_add(0x10);
    if (args[outs.at[i].arg] != 0) std::memcpy(reinterpret_cast<void *>(args[outs.at[i].arg]), &handle, outs.at[i].width);
  }
}

// The newest variant of a function: what a look-up without a version of its own would give.
void *look_up(std::string_view name) noexcept {
  const api::function_info *const function = api::find_function(name);
  void *found = nullptr;
  if (function == nullptr) return nullptr;
  for (const std::uint16_t symbol : api::symbols_of(*function)) {
    if (!api::symbols[symbol].per_thread && functions[symbol] != nullptr) found = functions[symbol];
  }
  return found;
}

CUresult get_proc_address(const std::uint64_t *args, bool with_status) noexcept {
  const auto *const name = reinterpret_cast<const char *>(args[0]);
  void *const found = std::string_view(name) == "cuGetProcAddress" && static_cast<int>(args[2]) < 12000
                          ? functions[api::symbol_index("cuGetProcAddress")]
                          : look_up(name);
  write(args[1], found);
  if (with_status) write(args[4], found == nullptr ? 1 : 0);
  return found == nullptr && !with_status ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

// As the real driver does it: a thread of its own, whose start routine is in this library.
void on_a_thread(const std::uint64_t *args) noexcept {
  pthread_t thread{};
  const auto run = [](void *given) -> void * {
    const auto *const words = static_cast<const std::uint64_t *>(given);
    reinterpret_cast<CUhostFn>(words[1])(reinterpret_cast<void *>(words[2]));
    return nullptr;
  };
  if (::pthread_create(&thread, nullptr, run, const_cast<std::uint64_t *>(args)) == 0) ::pthread_join(thread, nullptr);
}

CUresult switch_context(api::context_switch how, std::uint32_t symbol, const std::uint64_t *args) noexcept {
  switch (how) {
    case api::context_switch::set:
      if (!contexts.empty()) contexts.pop_back();
      if (args[0] != 0) contexts.push_back(args[0]);
      break;
    case api::context_switch::push: contexts.push_back(args[0]); break;
    case api::context_switch::pop:
      if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
      write(args[0], contexts.back());
      contexts.pop_back();
      break;
    case api::context_switch::create:
      make_handles(symbol, args);
      contexts.push_back(faults::read_out(faults::outs_of(symbol).at[0], args));
      break;
    case api::context_switch::destroy:
      if (current() == args[0] && !contexts.empty()) contexts.pop_back();
      break;
    case api::context_switch::none: break;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult answer(std::uint32_t symbol, const std::uint64_t *args) noexcept {
  entry_state &entry = entries[symbol];
  entry.calls.fetch_add(1);
  if (auto *const function = entry.call_back.load(); function != nullptr) function(entry.data.load());
  if (entry.result.load() != 0) return static_cast<CUresult>(entry.result.load());
  const api::symbol_info &info = api::symbols[symbol];
  const std::string_view function = api::function_of(info).name;
  if (!info.known_signature) return CUDA_SUCCESS;
  if (const auto how = api::function_of(info).switches; how != api::context_switch::none) return switch_context(how, symbol, args);
  if (function == "cuDriverGetVersion") write(args[0], version);
  if (function == "cuDeviceGetCount") write(args[0], 2);
  if (function == "cuDeviceGet") write(args[0], static_cast<int>(args[1]));
  if (function == "cuCtxGetCurrent") write(args[0], current());
  if (function == "cuDevicePrimaryCtxRetain") write(args[0], primary_context(args[1]));
  if (function == "cuLaunchHostFunc") on_a_thread(args);
  if (function == "cuGetProcAddress") return get_proc_address(args, info.argc == 5);
  make_handles(symbol, args);
  return CUDA_SUCCESS;
}

}  // namespace standin

#pragma GCC visibility push(default)

uint64_t standin_calls(const char *symbol) { return standin::entries[cufault::api::symbol_index(symbol)].calls.load(); }

void standin_answer(const char *symbol, int32_t result) {
  standin::entries[cufault::api::symbol_index(symbol)].result.store(result);
}

void standin_call_back(const char *symbol, void (*function)(void *), void *data) {
  standin::entry_state &entry = standin::entries[cufault::api::symbol_index(symbol)];
  entry.data.store(data);
  entry.call_back.store(function);
}

#pragma GCC visibility pop

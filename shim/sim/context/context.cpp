// SPDX-License-Identifier: Apache-2.0
// The life of a context.
#include "context/context.h"

#include <algorithm>

#include "core/call.h"
#include "core/driver.h"
#include "device/device.h"
#include "stream/stream.h"

namespace cufault::sim {

Owned::Owned(const std::shared_ptr<Context>& owner) : context(owner), life(owner->life) {}

bool Owned::context_alive() const noexcept { return context->alive() && context->life == life; }

void Owned::require_context() const { require(context_alive(), CUDA_ERROR_CONTEXT_IS_DESTROYED); }

Context::Context(Device& on, unsigned wanted_flags, bool is_primary, std::uint64_t number)
    : device(on), primary(is_primary), id(number), flags(wanted_flags) {}

void Context::activate(unsigned wanted_flags) {
  active = true;
  ++life;
  flags = wanted_flags;
  attached = 0;
  cache = CU_FUNC_CACHE_PREFER_NONE;
  bank_size = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  // Recorded (context_limits).
  limits = {};
  limits[CU_LIMIT_STACK_SIZE] = 1024;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 11796480;
  limits[CU_LIMIT_SHMEM_SIZE] = 232448;
}

void Context::end(Driver& driver) {
  active = false;
  legacy_.reset();
  per_thread_.clear();
  waits.clear();
  peers.clear();
  driver.memory.drop_of(*this);
}

std::shared_ptr<Stream> Context::legacy_stream() {
  if (legacy_ == nullptr) legacy_ = std::make_shared<Stream>(shared_from_this(), Stream::Role::legacy, 0, 0);
  return legacy_;
}

std::shared_ptr<Stream> Context::thread_stream(std::uint64_t thread) {
  std::shared_ptr<Stream>& stream = per_thread_[thread];
  if (stream == nullptr) stream = std::make_shared<Stream>(shared_from_this(), Stream::Role::per_thread, 0, 0);
  return stream;
}

std::shared_ptr<Context> context_or_current(const Call& call, CUcontext handle) {
  if (handle == nullptr) return call.current();
  auto context = call.use<Context>(handle, CUDA_ERROR_INVALID_CONTEXT);
  require(context->alive(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context;
}

void drain(Call& call, const Context& context) {
  call.wait([&] {
    const auto& busy = call.driver.engine.busy();
    return std::none_of(busy.begin(), busy.end(), [&](const auto& stream) { return stream->context.get() == &context; });
  });
}

void destroy_context(Call& call, const std::shared_ptr<Context>& context) {
  drain(call, *context);
  context->end(call.driver);
}

}  // namespace cufault::sim

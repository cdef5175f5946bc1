// SPDX-License-Identifier: Apache-2.0
// What the reference handle layer adds to making and destroying an object: bare driver calls, and the layer's owners.
#include "counted.h"
#include "cufault/handles/memory.h"
#include "cufault/handles/scope.h"

namespace {

namespace h = cufault::handles;

template <class Call>
auto measured(CUcontext context, Call call) {
  return [=](benchmark::State& state) {
    if (h::get_current() != context) h::set_current(context);
    cufault::bench::time_calls(state, call);
  };
}

void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) cufault::bench::give_up(std::string(call) + " answered " + std::to_string(result));
}

}  // namespace

int main(int argc, char** argv) {
  const cufault::bench::settings how = cufault::bench::take_settings(argc, argv);
  try {
    const h::driver_table& driver = h::driver();
    check(driver.cuInit(0), "cuInit");
    const h::shared<h::context> primary = h::context::retain_primary(0);
    const CUcontext raw = primary->raw();

    cufault::bench::add("direct/stream", how, 1, measured(raw, [&driver] {
                          CUstream stream = nullptr;
                          check(driver.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "create");
                          check(driver.cuStreamDestroy(stream), "destroy");
                        }));
    cufault::bench::add("via/stream", how, 1,
                        measured(raw, [&primary] { benchmark::DoNotOptimize(h::stream::create(primary).get()); }));
    cufault::bench::add("direct/event", how, 1, measured(raw, [&driver] {
                          CUevent event = nullptr;
                          check(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "create");
                          check(driver.cuEventDestroy(event), "destroy");
                        }));
    cufault::bench::add("via/event", how, 1,
                        measured(raw, [&primary] { benchmark::DoNotOptimize(h::event::create(primary).get()); }));
    cufault::bench::add("direct/memory", how, 1, measured(raw, [&driver] {
                          CUdeviceptr memory = 0;
                          check(driver.cuMemAlloc(&memory, 4096), "create");
                          check(driver.cuMemFree(memory), "destroy");
                        }));
    cufault::bench::add("via/memory", how, 1, measured(raw, [&primary] {
                          benchmark::DoNotOptimize(h::buffer::allocate(primary, 4096).get());
                        }));
    return cufault::bench::run(argc, argv);
  } catch (const std::exception& error) {
    cufault::bench::give_up(error.what());
  }
}

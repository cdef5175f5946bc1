// SPDX-License-Identifier: Apache-2.0
// Contexts that were reset or destroyed, what is left of their objects, and objects that are destroyed twice.
#include <array>
#include <cstdlib>
#include <thread>

#include "cases/cases.h"
#include "cases/fixtures.h"
#include "cases/objects.h"
#include "cases/touch.h"

namespace probe {
namespace {

enum class End { reset, release };

void end_recorded(End how) {
  if (how == End::reset) CALL(cuDevicePrimaryCtxReset(dev));
  else CALL(cuDevicePrimaryCtxRelease(dev));
}

void retain_again(CUcontext& c2) {
  CALL(cuDevicePrimaryCtxRetain(&c2, dev));
  STEP("same handle", c2 == prim);
}

void reset_beside_green_context() {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  CALL(cuDevicePrimaryCtxReset(dev));
  touch(prim);
  CUcontext c2 = nullptr;
  CUdeviceptr p;
  retain_again(c2);
  CALL(cuCtxSetCurrent(c2));
  CALL(cuMemAlloc(&p, 4));
}

void release_beside_green_context() {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  CALL(cuDevicePrimaryCtxRelease(dev));
  touch(prim);
}

void stale_touch(End how) {
  boot(faulting_program);
  Objects r;
  make(r, Green::without);
  end_recorded(how);
  touch(prim);
  CUcontext c2 = nullptr;
  CUdeviceptr p;
  retain_again(c2);
  CALL(cuMemAlloc(&p, 4));
  CALL(cuCtxSetCurrent(c2));
  CALL(cuMemAlloc(&p, 4));
}

void destroy_in_ended_context(End how, bool stale_current, const Destroyer& kind) {
  boot(faulting_program);
  Objects r;
  make(r, Green::without);
  if (!stale_current) SETUP(cuCtxSetCurrent(nullptr));
  if (how == End::reset) SETUP(cuDevicePrimaryCtxReset(dev));
  else SETUP(cuDevicePrimaryCtxRelease(dev));
  kind.destroy(r);
}

void destroy_twice(const Destroyer& kind) {
  boot(faulting_program);
  Objects r;
  make(r, Green::with);
  kind.destroy(r);
  kind.destroy(r);
}

void stale_context() {
  boot(faulting_program);
  CUcontext c2 = ctx2();
  CUstream s = stream(0);
  SETUP(cuCtxSetCurrent(prim));
  CALL(cuCtxDestroy(c2));
  CUcontext x = nullptr;
  CUdeviceptr p;
  CALL(cuCtxSetCurrent(c2));
  CALL(cuCtxGetCurrent(&x));
  STEP("current==stale", x == c2);
  CALL(cuMemAlloc(&p, 4));
  CALL(cuStreamDestroy(s));
  CALL(cuCtxSetCurrent(c2));
  CALL(cuCtxSetCurrent(prim));
  CALL(cuMemAlloc(&p, 4));
}

void destroyed_while_current() {
  boot(faulting_program);
  CUcontext c2 = ctx2();
  CALL(cuCtxDestroy(c2));
  CUcontext x = nullptr;
  CUdeviceptr p;
  CALL(cuCtxGetCurrent(&x));
  STEP("current is", x == nullptr ? "null" : x == prim ? "prim" : "stale");
  CALL(cuMemAlloc(&p, 4));
}

void destroyed_while_current_elsewhere() {
  boot(faulting_program);
  CUcontext c2 = ctx2();
  SETUP(cuCtxSetCurrent(prim));
  std::thread([&] {
    CALL(cuCtxSetCurrent(c2));
    std::thread([&] { CALL(cuCtxDestroy(c2)); }).join();
    CUcontext x = nullptr;
    CUdeviceptr p;
    CALL(cuCtxGetCurrent(&x));
    STEP("current==stale", x == c2);
    CALL(cuMemAlloc(&p, 4));
    CALL(cuCtxSynchronize());
  }).join();
}

void garbage_handle() {
  boot(faulting_program);
  CALL(cuCtxSetCurrent((CUcontext)0x1234567812345670ull));
}

void heap_handle() {
  boot(faulting_program);
  void* h = std::calloc(1, 4096);
  CALL(cuCtxSetCurrent((CUcontext)h));
}

}  // namespace

void add_destroyed(CaseList& list) {
  list.chained("primary_reset_stale", reset_beside_green_context);
  list.chained("primary_release_to_zero", release_beside_green_context);
  for (const Destroyer& kind : destroyers())
    list.chained("double_destroy_" + std::string{kind.kind}, [&kind] { destroy_twice(kind); });
  list.chained("ctx_destroyed_stale", stale_context);
  list.chained("ctx_destroyed_while_current", destroyed_while_current);
  list.chained("ctx_destroyed_current_on_other_thread", destroyed_while_current_elsewhere);
  list.chained("ctx_garbage", garbage_handle);
  list.chained("ctx_freed_heap_handle", heap_handle);
  for (const End how : {End::reset, End::release}) {
    const std::string prefix = how == End::reset ? "ng_reset_" : "ng_release_";
    list.chained(prefix + "stale_touch", [how] { stale_touch(how); });
    for (const Destroyer& kind : destroyers()) {
      for (const bool stale : {false, true}) {
        list.chained(prefix + "destroy_" + std::string{kind.kind} + (stale ? "_stalecurrent" : "_nocurrent"),
                     [how, stale, &kind] { destroy_in_ended_context(how, stale, kind); });
      }
    }
  }
}

}  // namespace probe

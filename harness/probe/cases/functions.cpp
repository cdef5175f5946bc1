// SPDX-License-Identifier: Apache-2.0
// Attributes of functions, and occupancy.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

std::string attributes_of(CUfunction f) {
  std::string all;
  for (int id = 0; id <= 15; id++) {
    // How many registers a kernel takes is the choice of the compiler inside the driver.
    if (id == CU_FUNC_ATTRIBUTE_NUM_REGS) continue;
    int v = -77;
    const CUresult result = cuFuncGetAttribute(&v, static_cast<CUfunction_attribute>(id), f);
    if (!all.empty()) all += " ";
    all += std::to_string(id) + "=" + (result == CUDA_SUCCESS ? std::to_string(v) : name_of(result));
  }
  return all;
}

void attributes() {
  boot();
  for (const char* n : {"ok", "args", "smem", "max128", "req64"}) STEP(n, attributes_of(fn(n)));
  CUmodule m = module_of(PTX90);
  for (const char* n : {"plain", "fixed2", "mustset"}) STEP(n, attributes_of(fn(n, m)));
}

void set_attributes() {
  boot();
  CUfunction f = fn("ok");
  CUfunction sm = fn("smem");
  CUmodule m = module_of(PTX90);
  CUfunction fx = fn("fixed2", m);
  CUfunction pl = fn("plain", m);
  const auto set = [](const char* what, CUfunction of, CUfunction_attribute id, int to) {
    step(what, [&] {
      const CUresult result = cuFuncSetAttribute(of, id, to);
      int v = -77;
      const CUresult read = cuFuncGetAttribute(&v, id, of);
      return name_of(result) + " then=" + (read == CUDA_SUCCESS ? std::to_string(v) : name_of(read));
    });
  };
  constexpr auto dynamic_shared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  constexpr auto carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  constexpr auto width = CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
  constexpr auto policy = CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
  set("dynamic shared 0", f, dynamic_shared, 0);
  set("dynamic shared 49152", f, dynamic_shared, 49152);
  set("dynamic shared 49153", f, dynamic_shared, 49153);
  set("dynamic shared 232448", f, dynamic_shared, 232448);
  set("dynamic shared 232449", f, dynamic_shared, 232449);
  set("dynamic shared -1", f, dynamic_shared, -1);
  set("dynamic shared 232448 beside 1024 static", sm, dynamic_shared, 232448);
  set("dynamic shared 231424 beside 1024 static", sm, dynamic_shared, 231424);
  set("carveout 50", f, carveout, 50);
  set("carveout 100", f, carveout, 100);
  set("carveout 101", f, carveout, 101);
  set("carveout -1", f, carveout, -1);
  set("carveout -2", f, carveout, -2);
  set("max threads", f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 64);
  set("static shared", f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 64);
  STEP("registers", cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 16));
  set("cache mode", f, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 1);
  set("cluster must be set", f, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1);
  set("cluster width 2", pl, width, 2);
  set("cluster width 0", pl, width, 0);
  set("cluster width 3", pl, width, 3);
  set("cluster width 16", pl, width, 16);
  set("cluster width -1", pl, width, -1);
  set("cluster height 2", pl, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 2);
  set("cluster width of a fixed cluster", fx, width, 4);
  set("non-portable 1", pl, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  set("non-portable 2", pl, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2);
  set("scheduling policy 1", pl, policy, 1);
  set("scheduling policy 9", pl, policy, 9);
  set("attribute 16", f, static_cast<CUfunction_attribute>(16), 1);
}

void occupancy() {
  boot();
  CUfunction f = fn("ok");
  CUfunction q = fn("req64");
  CUfunction x = fn("max128");
  int n = -1;
  int g = -1;
  std::size_t z = 0;
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1024, 0));
  STEP("blocks of 1024", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 0));
  STEP("blocks of 32", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 33, 0));
  STEP("blocks of 33", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 48 << 10));
  STEP("blocks with 48 KiB", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 100 << 10));
  STEP("blocks with 100 KiB", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, x, 256, 0));
  STEP("max128 at 256", n);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, q, 32, 0));
  STEP("req64 at 32", n);
  CALL(cuOccupancyMaxPotentialBlockSize(&g, &n, f, nullptr, 0, 0));
  STEP("grid", g);
  STEP("block", n);
  CALL(cuOccupancyMaxPotentialBlockSize(&g, &n, x, nullptr, 0, 0));
  STEP("block of max128", n);
  CALL(cuOccupancyMaxPotentialBlockSize(&g, &n, f, nullptr, 0, 100));
  STEP("block limited to 100", n);
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(&z, f, 1, 128));
  STEP("shared for one block", z);
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(&z, f, 2, 128));
  STEP("shared for two blocks", z);
  CALL(cuOccupancyAvailableDynamicSMemPerBlock(&z, f, 64, 128));
}

}  // namespace

void add_functions(CaseList& list) {
  list.independent("function_attributes", attributes);
  list.independent("function_set_attribute", set_attributes);
  list.independent("occupancy", occupancy);
}

}  // namespace probe

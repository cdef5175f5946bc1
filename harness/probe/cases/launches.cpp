// SPDX-License-Identifier: Apache-2.0
// Launches: parameters, contexts, destroyed streams, cooperative and clustered grids, callbacks, the old interface.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

using Attributes = std::vector<CUlaunchAttribute>;

struct Dim {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

CUlaunchConfig config(Dim grid, Dim block, Attributes& attributes) {
  CUlaunchConfig c{};
  c.gridDimX = grid.x;
  c.gridDimY = grid.y;
  c.gridDimZ = grid.z;
  c.blockDimX = block.x;
  c.blockDimY = block.y;
  c.blockDimZ = block.z;
  c.attrs = attributes.data();
  c.numAttrs = static_cast<unsigned>(attributes.size());
  return c;
}

CUlaunchAttribute cooperative() {
  CUlaunchAttribute a{};
  a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  a.value.cooperative = 1;
  return a;
}

CUlaunchAttribute cluster(Dim size) {
  CUlaunchAttribute a{};
  a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  a.value.clusterDim.x = size.x;
  a.value.clusterDim.y = size.y;
  a.value.clusterDim.z = size.z;
  return a;
}

void parameters() {
  boot();
  CUfunction f = fn("ok");
  CUfunction a = fn("args");
  CUfunction st = fn("store");
  CUdeviceptr p = mem();
  unsigned long long x = p;
  unsigned v = 5;
  char c[16] = {};
  unsigned char d = 0;
  void* kp[] = {&x, &v, c, &d};
  char buf[40] = {};
  std::size_t z = 33;
  void* const END = CU_LAUNCH_PARAM_END;
  void* const BUFFER = CU_LAUNCH_PARAM_BUFFER_POINTER;
  void* const SIZE = CU_LAUNCH_PARAM_BUFFER_SIZE;
  void* ex[] = {BUFFER, buf, SIZE, &z, END};
  void* no_size[] = {BUFFER, buf, END};
  void* no_buffer[] = {SIZE, &z, END};
  void* end_alone[] = {END};
  void* unknown_key[] = {reinterpret_cast<void*>(7), buf, END};
  void* null_entry[] = {&x, nullptr, c, &d};
  void* sp[] = {&x, &v};
  const auto t = [](const char* what, CUfunction k, void** kernel_params, void** extra) {
    STEP(what, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, kernel_params, extra));
  };
  t("kernelParams", a, kp, nullptr);
  t("extra", a, nullptr, ex);
  t("both", a, kp, ex);
  t("neither, kernel with parameters", a, nullptr, nullptr);
  t("kernelParams for a kernel without parameters", f, kp, nullptr);
  t("extra for a kernel without parameters", f, nullptr, ex);
  z = 32;
  t("extra one byte short", a, nullptr, ex);
  z = 40;
  t("extra too long", a, nullptr, ex);
  z = 33;
  t("extra without a size", a, nullptr, no_size);
  t("extra without a buffer", a, nullptr, no_buffer);
  t("extra with END alone", a, nullptr, end_alone);
  t("extra with END alone, kernel without parameters", f, nullptr, end_alone);
  t("extra with an unknown key", a, nullptr, unknown_key);
  t("kernelParams with a null entry", a, null_entry, nullptr);
  t("store", st, sp, nullptr);
  CALL(cuCtxSynchronize());
  unsigned g = 0;
  CALL(cuMemcpyDtoH(&g, p, 4));
  STEP("stored value", g);
}

void contexts() {
  boot();
  CUfunction f = fn("ok");
  CUstream s = stream();
  ctx2();
  CUfunction f2 = fn("ok", module_of(PTX));
  CUstream s2 = stream();
  STEP("function of the other context, null stream", launch(f));
  STEP("function of the other context, its stream", launch(f, s));
  STEP("own function, stream of the other context", launch(f2, s));
  STEP("function of the other context, own stream", launch(f, s2));
  STEP("own function, own stream", launch(f2, s2));
  SETUP(cuCtxSetCurrent(prim));
  STEP("own function, own stream, after a switch", launch(f, s));
  STEP("second context's function and stream while the first is current", launch(f2, s2));
  SETUP(cuCtxSetCurrent(nullptr));
  STEP("no current context, null stream", launch(f));
  STEP("no current context, own stream", launch(f, s));
  STEP("no current context, per-thread stream", launch(f, CU_STREAM_PER_THREAD));
  CALL(cuStreamSynchronize(s));
  CALL(cuStreamSynchronize(s2));
  SETUP(cuCtxSetCurrent(prim));
  STEP("legacy handle 1", launch(f, CU_STREAM_LEGACY));
  STEP("per-thread handle 2", launch(f, CU_STREAM_PER_THREAD));
  CALL(cuLaunchHostFunc(s2, nothing, nullptr));
  CALL(cuMemsetD8Async(mem(), 0, 64, s2));
}

void destroyed_stream(const std::string& then) {
  boot();
  CUfunction f = fn("ok");
  CUstream s = stream();
  CUevent e = event();
  CUdeviceptr p = mem();
  unsigned fl;
  SETUP(cuStreamDestroy(s));
  if (then == "launch") CALL(launch(f, s));
  if (then == "sync") CALL(cuStreamSynchronize(s));
  if (then == "query") CALL(cuStreamQuery(s));
  if (then == "record") CALL(cuEventRecord(e, s));
  if (then == "memset") CALL(cuMemsetD8Async(p, 0, 64, s));
  if (then == "hostfunc") CALL(cuLaunchHostFunc(s, nothing, nullptr));
  if (then == "flags") CALL(cuStreamGetFlags(s, &fl));
  CALL(cuCtxSynchronize());
}

void cooperative_grids() {
  boot();
  CUfunction f = fn("ok");
  CALL(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(f, 1000000, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(f, 264, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(f, 265, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(f, 0, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(f, 1, 1, 1, 2000, 1, 1, 0, nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  Attributes attributes = {cooperative()};
  const CUlaunchConfig many = config({1000000}, {1024}, attributes);
  const CUlaunchConfig few = config({2}, {32}, attributes);
  STEP("cuLaunchKernelEx cooperative too many blocks", cuLaunchKernelEx(&many, f, nullptr, nullptr));
  STEP("cuLaunchKernelEx cooperative", cuLaunchKernelEx(&few, f, nullptr, nullptr));
  CUDA_LAUNCH_PARAMS lp{};
  lp.function = f;
  lp.gridDimX = lp.gridDimY = lp.gridDimZ = lp.blockDimX = lp.blockDimY = lp.blockDimZ = 1;
  lp.hStream = stream();
  CALL(cuLaunchCooperativeKernelMultiDevice(&lp, 1, 0));
  CALL(cuLaunchCooperativeKernelMultiDevice(&lp, 0, 0));
  CALL(cuLaunchCooperativeKernelMultiDevice(nullptr, 1, 0));
  CALL(cuCtxSynchronize());
}

struct ClusterRows {
  CUfunction pl = nullptr;   // no cluster of its own
  CUfunction fx = nullptr;   // a cluster of 2, fixed
  CUfunction ms = nullptr;   // a cluster that the launch must set
  CUfunction np = nullptr;   // compiled for a machine without clusters
  CUfunction big = nullptr;  // like pl, with non-portable sizes allowed

  ClusterRows() {
    boot();
    CUmodule m = module_of(PTX90);
    pl = fn("plain", m);
    fx = fn("fixed2", m);
    ms = fn("mustset", m);
    np = fn("ok");
    big = fn("plain", module_of(PTX90));
    SETUP(cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  }

  static void launched(const char* what, CUfunction k, Attributes attributes, Dim grid) {
    step(what, [&] {
      const CUlaunchConfig c = config(grid, {32}, attributes);
      const CUresult result = cuLaunchKernelEx(&c, k, nullptr, nullptr);
      return name_of(result) + " sync=" + name_of(cuCtxSynchronize());
    });
  }

  void sizes() const;
  void fixed_sizes() const;
  void occupancy() const;
};

void ClusterRows::sizes() const {
  launched("2 on a grid of 8", pl, {cluster({2})}, {8});
  launched("8 on a grid of 8", pl, {cluster({8})}, {8});
  launched("0", pl, {cluster({0})}, {8});
  launched("0x0x0", pl, {cluster({0, 0, 0})}, {8});
  launched("3 on a grid of 8", pl, {cluster({3})}, {8});
  launched("3 on a grid of 9", pl, {cluster({3})}, {9});
  launched("16 without opting in", pl, {cluster({16})}, {16});
  launched("16 opted in", big, {cluster({16})}, {16});
  launched("32 opted in", big, {cluster({32})}, {32});
  launched("2x2x2", pl, {cluster({2, 2, 2})}, {2, 2, 2});
  launched("4x4", pl, {cluster({4, 4})}, {4, 4});
  launched("sm_70 kernel, cluster 2", np, {cluster({2})}, {8});
}

void ClusterRows::fixed_sizes() const {
  launched("fixed 2, no attribute", fx, {}, {8});
  launched("fixed 2, no attribute, grid of 7", fx, {}, {7});
  launched("fixed 2, attribute 2", fx, {cluster({2})}, {8});
  launched("fixed 2, attribute 4", fx, {cluster({4})}, {8});
  launched("must be set, no attribute", ms, {}, {8});
  launched("must be set, attribute 2", ms, {cluster({2})}, {8});
  launched("cooperative with clusters", pl, {cluster({2}), cooperative()}, {8});
  const auto plainly = [](CUfunction k, unsigned grid) {
    return cuLaunchKernel(k, grid, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  STEP("fixed 2 through cuLaunchKernel", plainly(fx, 8));
  STEP("fixed 2 through cuLaunchKernel, grid of 7", plainly(fx, 7));
  STEP("must be set through cuLaunchKernel", plainly(ms, 8));
  CALL(cuCtxSynchronize());
}

void ClusterRows::occupancy() const {
  Attributes none;
  CUlaunchConfig c = config({64}, {32}, none);
  int n = -1;
  CALL(cuOccupancyMaxPotentialClusterSize(&n, pl, &c));
  STEP("largest cluster", n);
  CALL(cuOccupancyMaxPotentialClusterSize(&n, big, &c));
  STEP("largest cluster, non-portable", n);
  CALL(cuOccupancyMaxPotentialClusterSize(&n, fx, &c));
  STEP("largest cluster of fixed2", n);
  Attributes of_two = {cluster({2})};
  c = config({64}, {32}, of_two);
  CALL(cuOccupancyMaxActiveClusters(&n, pl, &c));
  STEP("some active clusters", n > 0);
}

void clusters() {
  const ClusterRows rows;
  rows.sizes();
  rows.fixed_sizes();
  rows.occupancy();
}

void host_function_outlives_stream() {
  boot();
  static Gate gate;
  static std::atomic<int> n;
  CUstream s = stream();
  shut(gate, s);
  CALL(cuLaunchHostFunc(s, count_up, &n));
  CALL(cuStreamDestroy(s));
  STEP("ran", n.load());
  gate.open = 1;
  CALL(cuCtxSynchronize());
  for (int i = 0; i < 200 && n == 0; i++) pause(a_while / 10);
  STEP("ran after the stream was destroyed", n.load());
}

void callback_calls_driver() {
  boot();
  static CUevent e;
  static Gate gate;
  CUstream s = stream();
  e = event();
  shut(gate, s);
  const CUstreamCallback calls = [](CUstream q, CUresult status, void*) {
    CUdeviceptr p;
    int n;
    const char* m;
    CUcontext c;
    STEP("status", status);
    CALL(cuMemAlloc(&p, 64));
    CALL(cuStreamQuery(q));
    CALL(cuEventQuery(e));
    CALL(cuEventRecord(e, q));
    CALL(cuLaunchHostFunc(q, nothing, nullptr));
    CALL(cuDeviceGetCount(&n));
    CALL(cuDriverGetVersion(&n));
    CALL(cuGetErrorName(CUDA_SUCCESS, &m));
    CALL(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CALL(cuCtxGetCurrent(&c));
    CALL(cuCtxSetCurrent(nullptr));
  };
  STEP("cuStreamAddCallback", cuStreamAddCallback(s, calls, nullptr, 0));
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
}

void old_interface() {
  boot();
  CUfunction f = fn("ok");
  CUfunction a = fn("args");
  CALL(cuLaunch(f));
  CALL(cuFuncSetBlockShape(f, 0, 1, 1));
  CALL(cuFuncSetBlockShape(f, 2000, 1, 1));
  CALL(cuFuncSetBlockShape(f, 32, 1, 1));
  CALL(cuFuncSetSharedSize(f, 1 << 20));
  CALL(cuFuncSetSharedSize(f, 1024));
  CALL(cuParamSetSize(f, 8));
  CALL(cuParamSetSize(f, 5000));
  CALL(cuParamSetSize(f, 0));
  CALL(cuParamSeti(f, 8, 1));
  CALL(cuLaunch(f));
  CALL(cuLaunchGrid(f, 2, 2));
  CALL(cuLaunchGrid(f, 0, 1));
  CALL(cuLaunchGridAsync(f, 1, 1, nullptr));
  CALL(cuParamSeti(a, 0, 1));
  CALL(cuCtxSynchronize());
  auto sc = static_cast<CUsharedconfig>(77);
  CALL(cuCtxGetSharedMemConfig(&sc));
  STEP("bank size", sc);
  CALL(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  CALL(cuCtxGetSharedMemConfig(&sc));
  STEP("bank size", sc);
  CALL(cuFuncSetSharedMemConfig(f, CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  CALL(cuCtxSetSharedMemConfig((CUsharedconfig)9));
  CUtexref tr;
  CALL(cuTexRefCreate(&tr));
  CALL(cuModuleGetTexRef(&tr, mod, "none"));
}

}  // namespace

void add_launches(CaseList& list) {
  list.independent("launch_parameters", parameters);
  list.independent("launch_contexts", contexts);
  for (const std::string then : {"launch", "sync", "query", "record", "memset", "hostfunc", "flags"})
    list.chained("destroyed_stream_" + then, [then] { destroyed_stream(then); });
  list.independent("launch_cooperative", cooperative_grids);
  list.independent("launch_clusters", clusters);
  list.chained("launch_host_function", host_function_outlives_stream);
  list.chained("launch_callback_calls_driver", callback_calls_driver);
  list.independent("launch_deprecated", old_interface);
}

}  // namespace probe

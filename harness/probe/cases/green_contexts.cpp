// SPDX-License-Identifier: Apache-2.0
// Green contexts: how multiprocessors are split, descriptors, what such a context is, and how it ends.
#include <thread>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

CUdevResource multiprocessors() {
  CUdevResource r{};
  SETUP(cuDeviceGetDevResource(dev, &r, CU_DEV_RESOURCE_TYPE_SM));
  return r;
}

CUgreenCtx green(unsigned count = 16) {
  const CUdevResource all = multiprocessors();
  CUdevResource part{};
  CUdevResource rest{};
  unsigned groups = 1;
  SETUP(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, count));
  CUdevResourceDesc description{};
  SETUP(cuDevResourceGenerateDesc(&description, &part, 1));
  CUgreenCtx g = nullptr;
  SETUP(cuGreenCtxCreate(&g, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
  return g;
}

// A row: so many groups, with these flags, of so many multiprocessors at least.
void split_into(const char* what, const CUdevResource& all, unsigned groups, unsigned flags, unsigned least,
                bool only_ask = false) {
  step(what, [&] {
    CUdevResource parts[64] = {};
    CUdevResource rest{};
    unsigned n = groups;
    const CUresult r = cuDevSmResourceSplitByCount(only_ask ? nullptr : parts, &n, &all, &rest, flags, least);
    return name_of(r) + " groups=" + std::to_string(n) + " first=" + std::to_string(parts[0].sm.smCount) +
           " rest=" + std::to_string(rest.sm.smCount) + " rest type=" + std::to_string(rest.type);
  });
}

void split() {
  boot();
  CUdevResource all = multiprocessors();
  STEP("SMs", all.sm.smCount);
  STEP("minimum partition", all.sm.minSmPartitionSize);
  STEP("alignment", all.sm.smCoscheduledAlignment);
  split_into("1 group of 0", all, 1, 0, 0);
  split_into("1 group of 1", all, 1, 0, 1);
  split_into("1 group of 8", all, 1, 0, 8);
  split_into("1 group of 9", all, 1, 0, 9);
  split_into("1 group of 16", all, 1, 0, 16);
  split_into("2 groups of 16", all, 2, 0, 16);
  split_into("16 groups of 8", all, 16, 0, 8);
  split_into("64 groups of 8", all, 64, 0, 8);
  split_into("0 groups", all, 0, 0, 8);
  split_into("1 group of 132", all, 1, 0, 132);
  split_into("1 group of 133", all, 1, 0, 133);
  split_into("2 groups of 100", all, 2, 0, 100);
  split_into("query of groups of 8", all, 0, 0, 8, true);
  split_into("query of groups of 16", all, 0, 0, 16, true);
  split_into("query of 3 groups of 16", all, 3, 0, 16, true);
  split_into("fine-grained, 1 group of 1", all, 1, 1, 1);
  split_into("fine-grained, 64 groups of 2", all, 64, 1, 2);
  split_into("largest clusters, 1 group of 16", all, 1, 2, 16);
  split_into("both flags", all, 1, 3, 16);
  split_into("unknown flag", all, 1, 0x80, 16);
  CUdevResource g[64];
  CUdevResource rest{};
  unsigned n = 1;
  CALL(cuDevSmResourceSplitByCount(g, nullptr, &all, &rest, 0, 8));
  CALL(cuDevSmResourceSplitByCount(g, &n, nullptr, &rest, 0, 8));
  CALL(cuDevSmResourceSplitByCount(g, &n, &all, nullptr, 0, 8));
  CUdevResource bad = all;
  bad.type = CU_DEV_RESOURCE_TYPE_INVALID;
  STEP("input of an invalid type", cuDevSmResourceSplitByCount(g, &n, &bad, &rest, 0, 8));
  bad = {};
  bad.type = CU_DEV_RESOURCE_TYPE_SM;
  STEP("forged input", cuDevSmResourceSplitByCount(g, &n, &bad, &rest, 0, 8));
  n = 1;
  SETUP(cuDevSmResourceSplitByCount(g, &n, &all, &rest, 0, 32));
  CUdevResource sub[4];
  n = 2;
  STEP("split of a split", cuDevSmResourceSplitByCount(sub, &n, g, nullptr, 0, 16));
  STEP("groups", n);
  CUdevResource d;
  CALL(cuDeviceGetDevResource(dev, nullptr, CU_DEV_RESOURCE_TYPE_SM));
  CALL(cuDeviceGetDevResource(dev, &d, CU_DEV_RESOURCE_TYPE_INVALID));
  CALL(cuDeviceGetDevResource(99, &d, CU_DEV_RESOURCE_TYPE_SM));
}

void descriptors() {
  boot();
  CUdevResource all = multiprocessors();
  CUdevResource g[4];
  CUdevResource h[4];
  CUdevResource rest;
  unsigned n = 2;
  SETUP(cuDevSmResourceSplitByCount(g, &n, &all, &rest, 0, 16));
  n = 2;
  SETUP(cuDevSmResourceSplitByCount(h, &n, &all, nullptr, 0, 16));
  CUdevResourceDesc d{};
  CALL(cuDevResourceGenerateDesc(nullptr, g, 1));
  CALL(cuDevResourceGenerateDesc(&d, nullptr, 1));
  CALL(cuDevResourceGenerateDesc(&d, g, 0));
  CALL(cuDevResourceGenerateDesc(&d, g, 1));
  CALL(cuDevResourceGenerateDesc(&d, g, 2));
  const auto describe = [&](const char* what, std::vector<CUdevResource> parts) {
    STEP(what, cuDevResourceGenerateDesc(&d, parts.data(), static_cast<unsigned>(parts.size())));
  };
  describe("groups of two splits", {g[0], h[1]});
  describe("the same group twice", {g[0], g[0]});
  describe("the whole device", {all});
  describe("the rest", {rest});
  describe("an empty resource", {CUdevResource{}});
  describe("a group and the rest", {g[0], rest});
  CUgreenCtx c;
  SETUP(cuDevResourceGenerateDesc(&d, g, 1));
  CALL(cuGreenCtxCreate(nullptr, d, dev, CU_GREEN_CTX_DEFAULT_STREAM));
  CALL(cuGreenCtxCreate(&c, nullptr, dev, CU_GREEN_CTX_DEFAULT_STREAM));
  CALL(cuGreenCtxCreate(&c, d, 99, CU_GREEN_CTX_DEFAULT_STREAM));
  CALL(cuGreenCtxCreate(&c, d, dev, 0));
  CALL(cuGreenCtxCreate(&c, d, dev, 3));
  CALL(cuGreenCtxCreate(&c, d, dev, CU_GREEN_CTX_DEFAULT_STREAM));
  STEP("a second one from the same descriptor", cuGreenCtxCreate(&c, d, dev, CU_GREEN_CTX_DEFAULT_STREAM));
}

void identity(CUgreenCtx g, CUcontext& c) {
  CUcontext c2 = nullptr;
  CUcontext x = nullptr;
  CALL(cuCtxFromGreenCtx(&c, g));
  CALL(cuCtxFromGreenCtx(&c2, g));
  STEP("same context each time", c == c2);
  STEP("not the primary", c != prim);
  CALL(cuCtxFromGreenCtx(nullptr, g));
  CALL(cuCtxFromGreenCtx(&x, nullptr));
  CUdevResource r{};
  CALL(cuGreenCtxGetDevResource(g, &r, CU_DEV_RESOURCE_TYPE_SM));
  STEP("SMs", r.sm.smCount);
  CALL(cuGreenCtxGetDevResource(g, nullptr, CU_DEV_RESOURCE_TYPE_SM));
  CALL(cuGreenCtxGetDevResource(g, &r, CU_DEV_RESOURCE_TYPE_INVALID));
  CALL(cuGreenCtxGetDevResource(nullptr, &r, CU_DEV_RESOURCE_TYPE_SM));
  CALL(cuCtxGetDevResource(c, &r, CU_DEV_RESOURCE_TYPE_SM));
  STEP("SMs through the context", r.sm.smCount);
  CALL(cuCtxGetDevResource(prim, &r, CU_DEV_RESOURCE_TYPE_SM));
  STEP("SMs of the primary", r.sm.smCount);
}

void work(CUgreenCtx g, CUcontext c) {
  CUfunction k = fn("ok");
  STEP("kernel of the primary context, null stream", launch(k));
  CALL(cuCtxSynchronize());
  CUstream s = nullptr;
  CUcontext x = nullptr;
  CUgreenCtx sg = nullptr;
  CALL(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CALL(cuStreamGetCtx(s, &x));
  STEP("its context is the green one's", x == c);
  STEP("its context is the primary", x == prim);
  CALL(cuStreamGetGreenCtx(s, &sg));
  STEP("its green context", sg == g);
  CALL(cuStreamGetCtx_v2(s, &x, &sg));
  STEP("v2: green context", sg == g);
  STEP("v2: context null", x == nullptr);
  STEP("launch on it", launch(k, s));
  CUdeviceptr p = 0;
  CUcontext pc = nullptr;
  CALL(cuMemAlloc(&p, 64));
  CALL(cuPointerGetAttribute(&pc, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  STEP("memory belongs to the primary", pc == prim);
  STEP("memory belongs to the green context", pc == c);
  CALL(cuStreamSynchronize(s));
}

void green_context() {
  boot();
  CUgreenCtx g = green();
  CUcontext c = nullptr;
  identity(g, c);
  CALL(cuCtxSetCurrent(c));
  STEP("current", who(c));
  CUdevice d = 77;
  unsigned f = 77;
  unsigned v = 77;
  CALL(cuCtxGetDevice(&d));
  STEP("device", d);
  CALL(cuCtxGetFlags(&f));
  STEP("flags", f);
  CALL(cuCtxGetApiVersion(c, &v));
  work(g, c);
  CALL(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  CALL(cuCtxDestroy(c));
  unsigned long long a = 0;
  unsigned long long b = 0;
  CALL(cuGreenCtxGetId(g, &a));
  CALL(cuCtxGetId(c, &b));
  STEP("ids equal", a == b);
  CALL(cuGreenCtxGetId(g, nullptr));
  CALL(cuGreenCtxGetId(nullptr, &a));
}

void destroyed_with_live_stream(const std::string& then) {
  boot();
  CUgreenCtx g = green();
  CUgreenCtx sg;
  CUstream s = nullptr;
  SETUP(cuGreenCtxStreamCreate(&s, g, CU_STREAM_NON_BLOCKING, 0));
  CUfunction k = fn("ok");
  SETUP(launch(k, s));
  SETUP(cuStreamSynchronize(s));
  CALL(cuGreenCtxDestroy(g));
  if (then == "launch") CALL(launch(k, s));
  if (then == "sync") CALL(cuStreamSynchronize(s));
  if (then == "destroy") CALL(cuStreamDestroy(s));
  if (then == "getgreen") CALL(cuStreamGetGreenCtx(s, &sg));
  if (then == "query") CALL(cuStreamQuery(s));
  CUdeviceptr p;
  CALL(cuMemAlloc(&p, 64));
}

void destroyed_while_current() {
  boot();
  CUgreenCtx g = green();
  CUcontext c = nullptr;
  CUcontext x;
  CUdeviceptr p;
  SETUP(cuCtxFromGreenCtx(&c, g));
  SETUP(cuCtxPushCurrent(c));
  CALL(cuGreenCtxDestroy(g));
  STEP("current", who(c));
  CALL(cuMemAlloc(&p, 64));
  CALL(cuCtxPopCurrent(&x));
  CALL(cuMemAlloc(&p, 64));
}

void keeps_primary() {
  boot();
  CUgreenCtx g = green();
  CUdeviceptr p;
  STEP("state", primary_state());
  CALL(cuDevicePrimaryCtxRelease(dev));
  STEP("state", primary_state());
  CALL(cuDevicePrimaryCtxReset(dev));
  CALL(cuMemAlloc(&p, 64));
  CALL(cuGreenCtxDestroy(g));
  STEP("state", primary_state());
  CALL(cuMemAlloc(&p, 64));
}

void in_two_threads() {
  boot();
  CUgreenCtx g = green();
  CUcontext c = nullptr;
  SETUP(cuCtxFromGreenCtx(&c, g));
  CALL(cuCtxSetCurrent(c));
  std::thread([&] {
    CUdeviceptr p;
    CALL(cuCtxSetCurrent(c));
    CALL(cuMemAlloc(&p, 64));
  }).join();
}

}  // namespace

void add_green_contexts(CaseList& list) {
  list.independent("green_split", split);
  list.independent("green_descriptor", descriptors);
  list.chained("green_context", green_context);
  for (const std::string then : {"launch", "sync", "destroy", "getgreen", "query"})
    list.chained("green_destroy_with_live_stream_then_" + then, [then] { destroyed_with_live_stream(then); });
  list.chained("green_destroy_while_current", destroyed_while_current);
  list.chained("green_keeps_primary", keeps_primary);
  list.chained("green_in_two_threads", in_two_threads);
}

}  // namespace probe

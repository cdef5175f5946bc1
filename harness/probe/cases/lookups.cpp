// SPDX-License-Identifier: Apache-2.0
// Names of results, and finding functions by name.
#include "cases/cases.h"
#include "cases/fixtures.h"
#include "core/driver.h"

namespace probe {
namespace {

std::string with_text(CUresult result, const char* s) {
  const std::string code = std::to_string(static_cast<int>(result)) + " ";
  return code + (s == reinterpret_cast<const char*>(1) ? "untouched" : s != nullptr ? s : "null");
}

void names_of_unknown_results() {
  for (const int code : {-1, 9, 10, 53, 99, 103, 205, 240, 299, 306, 399, 500, 599, 705, 722, 799, 812, 913, 1000, 9999,
                         0x7fffffff}) {
    const auto result = static_cast<CUresult>(code);
    const auto* const untouched = reinterpret_cast<const char*>(1);
    step("name of " + std::to_string(code), [&] {
      const char* s = untouched;
      const CUresult answer = cuGetErrorName(result, &s);
      return with_text(answer, s);
    });
    step("string of " + std::to_string(code), [&] {
      const char* s = untouched;
      const CUresult answer = cuGetErrorString(result, &s);
      return with_text(answer, s);
    });
  }
}

// Every code that has a name: the code is the row's name.
void names_of_results() {
  for (int code = 0; code < 1000; code++) {
    const char* name = nullptr;
    const char* description = nullptr;
    if (cuGetErrorName(static_cast<CUresult>(code), &name) != CUDA_SUCCESS || name == nullptr) continue;
    cuGetErrorString(static_cast<CUresult>(code), &description);
    STEP(std::to_string(code), std::string{name} + "\t" + (description != nullptr ? description : "-"));
  }
}

struct Lookup {
  std::string name;
  int version;
  cuuint64_t flags;
};

struct Found {
  CUresult result;
  std::string pointer;
  int status;
};

Found look_up(const Lookup& which) {
  const auto untouched = reinterpret_cast<void*>(1);
  void* p = untouched;
  auto status = static_cast<CUdriverProcAddressQueryResult>(9);
  const CUresult result = cuGetProcAddress(which.name.c_str(), &p, which.version, which.flags, &status);
  return {result, p == untouched ? "untouched" : p != nullptr ? "set" : "null", static_cast<int>(status)};
}

void proc_address() {
  boot(faulting_program);
  const Lookup lookups[] = {
      {"cuStreamDestroy", 13000, 0},  {"cuStreamDestroy", 3000, 0},   {"cuStreamDestroy_v2", 13000, 0},
      {"cuNoSuch", 13000, 0},         {"cuMemcpy", 13000, 2},         {"cuMemcpy", 13000, 1},
      {"cuCtxCreate", 13000, 0},      {"cuCtxCreate", 12000, 0},      {"cuGetProcAddress", 13000, 0},
      {"cuGetProcAddress", 11030, 0}, {"cuStreamDestroy", 99000, 0},  {"", 13000, 0},
  };
  for (const Lookup& which : lookups) {
    const std::string name = which.name.empty() ? "" : which.name + " ";
    step(name + "v" + std::to_string(which.version) + " f" + std::to_string(which.flags), [&] {
      const Found found = look_up(which);
      return name_of(found.result) + " ptr=" + found.pointer + " status=" + std::to_string(found.status);
    });
  }
}

const Lookup odd_lookups[] = {
    {"cuMemAlloc_v2", 13000, 0},
    {"cuMemcpy_ptds", 13000, 0},
    {"cuMemcpy_ptds", 13000, 2},
    {"cuLaunchKernel_ptsz", 13000, 2},
    {"cuGetProcAddress_v2", 13000, 0},
    {"cumemalloc", 13000, 0},
    {"CUMEMALLOC", 13000, 0},
    {" cuMemAlloc", 13000, 0},
    {"cuMemAlloc ", 13000, 0},
    {"MemAlloc", 13000, 0},
    {"cudaMalloc", 13000, 0},
    {"malloc", 13000, 0},
    {"cu", 13000, 0},
    {"cuMemAlloc", 0, 0},
    {"cuMemAlloc", 1, 0},
    {"cuMemAlloc", -1, 0},
    {"cuMemAlloc", 13, 0},
    {"cuMemAlloc", 13010, 0},
    {"cuMemAlloc", 14000, 0},
    {"cuMemAlloc", 13000, 3},
    {"cuMemAlloc", 13000, 4},
    {"cuMemAlloc", 13000, cuuint64_t{1} << 40},
    {"cuStreamSynchronize", 13000, 3},
    {"cuNoSuch", 99000, 0},
    {"cuNoSuch", 13000, 3},
    {"cuGetErrorName", 13000, 0},
    {"cuEGLInit", 13000, 0},
    {"cuGraphicsGLRegisterBuffer", 13000, 0},
    {"cuVDPAUGetDevice", 13000, 0},
    {"cuD3D11GetDevice", 13000, 0},
    {"cuProfilerInitialize", 13000, 0},
    {"cuMulticastCreate", 12000, 0},
    {"cuMulticastCreate", 12010, 0},
};

// cuGetProcAddress as it was before CUDA 12: no status.
using FirstGetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t);

void first_version(FirstGetProcAddress v1) {
  const auto untouched = reinterpret_cast<void*>(1);
  void* p = untouched;
  STEP("first version, unknown name", v1("cuNoSuch", &p, 13000, 0));
  STEP("pointer null", p == nullptr);
  STEP("pointer untouched", p == untouched);
  STEP("first version, version not sufficient", v1("cuGreenCtxCreate", &p, 12000, 0));
  STEP("first version, version above the driver's", v1("cuInit", &p, 99000, 0));
  STEP("first version, good", v1("cuInit", &p, 13000, 0));
  STEP("first version, null name", v1(nullptr, &p, 13000, 0));
}

void odd_proc_address() {
  boot();
  for (const Lookup& which : odd_lookups) {
    const std::string label =
        "'" + which.name + "' v" + std::to_string(which.version) + " f" + std::to_string(which.flags);
    step(label, [&] {
      const Found found = look_up(which);
      return name_of(found.result) + " " + found.pointer + " status=" + std::to_string(found.status);
    });
  }
  void* p;
  CUdriverProcAddressQueryResult q;
  CALL(cuGetProcAddress(nullptr, &p, 13000, 0, &q));
  CALL(cuGetProcAddress("cuInit", nullptr, 13000, 0, &q));
  CALL(cuGetProcAddress("cuInit", &p, 13000, 0, nullptr));
  STEP("unknown name, null status", cuGetProcAddress("cuNoSuch", &p, 13000, 0, nullptr));
  const auto v1 = reinterpret_cast<FirstGetProcAddress>(driver::find("cuGetProcAddress"));
  if (v1 == nullptr) return;
  first_version(v1);
  const void* t = reinterpret_cast<const void*>(1);
  CUuuid z{};
  CALL(cuGetExportTable(&t, &z));
  STEP("table null", t == nullptr);
  CALL(cuGetExportTable(nullptr, &z));
  CALL(cuGetExportTable(&t, nullptr));
}

}  // namespace

void add_lookups(CaseList& list) {
  list.chained("error_names", names_of_results);
  list.independent("error_names_unknown", names_of_unknown_results);
  list.chained("proc_address", proc_address);
  list.independent("proc_address_odd", odd_proc_address);
}

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// The linker: what it refuses when something is added, what when the whole is completed.
#include <cstdint>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

CUlinkState fresh() {
  CUlinkState s = nullptr;
  SETUP(cuLinkCreate(0, nullptr, nullptr, &s));
  return s;
}

CUresult add(CUlinkState to, CUjitInputType type, const std::string& what, const char* name = nullptr) {
  // A program in text ends with its NUL.
  const std::size_t size = what.size() + (type == CU_JIT_INPUT_PTX ? 1 : 0);
  return cuLinkAddData(to, type, const_cast<char*>(what.data()), size, name, 0, nullptr, nullptr);
}

const std::string header = ".version 7.0\n.target sm_70\n.address_size 64\n";
const std::string calls_none = header + ".extern .func none();\n.visible .entry k() { call none; ret; }\n";
const std::string defines_none = header + ".visible .func none() { ret; }\n";
const std::string wrong = header + ".visible .entry k() { this is wrong; }\n";

struct LinkRows {
  void* cub = nullptr;
  std::size_t z = 0;

  void garbage();
  void good();
  void references();
  void logs();
};

void LinkRows::garbage() {
  const std::string junk = "this is no program";
  const std::string bytes(512, '\x11');
  STEP("garbage as PTX", add(fresh(), CU_JIT_INPUT_PTX, junk, "x"));
  STEP("garbage as cubin", add(fresh(), CU_JIT_INPUT_CUBIN, bytes, "x"));
  STEP("garbage as fatbin", add(fresh(), CU_JIT_INPUT_FATBINARY, bytes, "x"));
  STEP("garbage as object", add(fresh(), CU_JIT_INPUT_OBJECT, bytes, "x"));
  STEP("garbage as library", add(fresh(), CU_JIT_INPUT_LIBRARY, bytes, "x"));
  STEP("garbage as NVVM", add(fresh(), CU_JIT_INPUT_NVVM, bytes, "x"));
  STEP("complete with nothing added", cuLinkComplete(fresh(), &cub, &z));
}

void LinkRows::good() {
  CUlinkState s = fresh();
  STEP("good PTX", add(s, CU_JIT_INPUT_PTX, PTX, "good"));
  STEP("the same PTX again", add(s, CU_JIT_INPUT_PTX, PTX, "good"));
  STEP("complete with symbols defined twice", cuLinkComplete(s, &cub, &z));
  CUlinkState t = fresh();
  SETUP(add(t, CU_JIT_INPUT_PTX, PTX));
  cub = nullptr;
  STEP("complete", cuLinkComplete(t, &cub, &z));
  STEP("cubin set", cub != nullptr && z > 0);
  CUmodule m = nullptr;
  CUfunction f;
  CALL(cuModuleLoadData(&m, cub));
  CALL(cuModuleGetFunction(&f, m, "args"));
  STEP("complete twice", cuLinkComplete(t, &cub, &z));
  STEP("add after complete", add(t, CU_JIT_INPUT_PTX, PTX));
  CALL(cuLinkDestroy(t));
  STEP("module from a destroyed link state still works", launch(fn("ok", m)));
}

void LinkRows::references() {
  CUlinkState u = fresh();
  STEP("unresolved reference: add", add(u, CU_JIT_INPUT_PTX, calls_none));
  STEP("unresolved reference: complete", cuLinkComplete(u, &cub, &z));
  CUlinkState w = fresh();
  SETUP(add(w, CU_JIT_INPUT_PTX, calls_none));
  SETUP(add(w, CU_JIT_INPUT_PTX, defines_none));
  STEP("resolved reference: complete", cuLinkComplete(w, &cub, &z));
}

void LinkRows::logs() {
  char log[2048];
  log[0] = 0;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* const size = reinterpret_cast<void*>(std::uintptr_t{sizeof log});
  void* operands[] = {log, size};
  CUlinkState x = nullptr;
  CUlinkState y;
  SETUP(cuLinkCreate(2, options, operands, &x));
  STEP("syntax error with a log", add(x, CU_JIT_INPUT_PTX, wrong, "bad"));
  STEP("its complete", cuLinkComplete(x, &cub, &z));
  STEP("log written", log[0] != 0);
  STEP("log size out changed", operands[1] != size);
  auto unknown = static_cast<CUjit_option>(999);
  void* operand = nullptr;
  STEP("unknown option", cuLinkCreate(1, &unknown, &operand, &y));
}

void all() {
  boot();
  LinkRows rows;
  rows.garbage();
  rows.good();
  rows.references();
  rows.logs();
}

}  // namespace

void add_linking(CaseList& list) { list.independent("link", all); }

}  // namespace probe

// SPDX-License-Identifier: Apache-2.0
// Modules and libraries: images that cannot be loaded, JIT options, lazy loading, use after unloading.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

struct Image {
  std::string name;
  std::string bytes;
};

std::string headed(const std::string& version, const std::string& target, const std::string& rest) {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + rest;
}

const std::vector<Image>& bad_images() {
  using namespace std::string_literals;
  const std::string kernel = ".visible .entry k() { ret; }\n";
  const std::string zeros(4096, '\0');
  const auto for_70 = [](const std::string& rest) { return headed("7.0", "sm_70", rest); };
  static const std::vector<Image> images = {
      {"empty text", ""},
      {"words", "this is no program"},
      {"header only", for_70("")},
      {"no header", kernel},
      {"no version", ".target sm_70\n.address_size 64\n" + kernel},
      {"no target", ".version 7.0\n.address_size 64\n" + kernel},
      {"syntax error", for_70(".visible .entry k() { this is wrong; ret; }\n")},
      {"undefined register", for_70(".visible .entry k() { mov.u32 %r1, 1; ret; }\n")},
      {"version 99.0", headed("99.0", "sm_70", kernel)},
      {"version 9.9", headed("9.9", "sm_70", kernel)},
      {"target sm_999", headed("7.0", "sm_999", kernel)},
      {"target sm_100", headed("8.6", "sm_100", kernel)},
      {"target sm_90a", headed("8.0", "sm_90a", kernel)},
      {"target sm_50", headed("7.0", "sm_50", kernel)},
      {"address size 32", ".version 7.0\n.target sm_70\n.address_size 32\n" + kernel},
      {"defined twice", for_70(kernel + kernel)},
      {"unresolved extern function", for_70(".extern .func none();\n.visible .entry k() { call none; ret; }\n")},
      {"unresolved extern variable",
       for_70(".extern .global .u32 none;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [none]; "
              "st.global.u32 [none], %r; ret; }\n")},
      {"static shared 64 KiB",
       for_70(".visible .entry k() { .shared .b8 b[65536]; .reg .b32 %r; mov.u32 %r, 1; "
              "st.volatile.shared.u32 [b], %r; ret; }\n")},
      {"ELF magic and zeros", "\x7f" "ELF" + zeros},
      {"fatbin magic and zeros", "\x50\xed\x55\xba\x01\x00\x10\x00"s + zeros},
      {"fatbin wrapper magic and zeros", "\x46\xb1\x62\x46\x01\x00\x00\x00"s + zeros},
      {"byte 0xff", std::string(4096, '\xff')},
  };
  return images;
}

// Behind an image stand zeros, so that a loader that looks for a size or an end finds something.
std::string padded(const Image& image) { return image.bytes + std::string(64, '\0'); }

void library_images() {
  boot();
  for (const Image& image : bad_images()) {
    const std::string bytes = padded(image);
    step(image.name, [&] {
      CUlibrary library = nullptr;
      CUkernel kernel = nullptr;
      CUfunction function = nullptr;
      CUresult result = cuLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
      std::string found = name_of(result);
      if (result != CUDA_SUCCESS) return found;
      result = cuLibraryGetKernel(&kernel, library, "k");
      found += " kernel=" + name_of(result);
      if (result != CUDA_SUCCESS) return found;
      return found + " function=" + name_of(cuKernelGetFunction(&function, kernel));
    });
  }
}

void fatbin_images() {
  boot();
  for (const Image& image : bad_images()) {
    if (!image.bytes.empty() && image.bytes[0] == '.') continue;
    const std::string bytes = padded(image);
    CUmodule m;
    STEP(image.name, cuModuleLoadFatBinary(&m, bytes.data()));
  }
}

void jit_options() {
  boot();
  CUmodule m;
  const auto option = [&](const char* what, CUjit_option id, std::uintptr_t operand) {
    void* operands = reinterpret_cast<void*>(operand);
    STEP(what, cuModuleLoadDataEx(&m, PTX, 1, &id, &operands));
  };
  option("option 999", static_cast<CUjit_option>(999), 0);
  option("option -1", static_cast<CUjit_option>(-1), 0);
  option("registers 32", CU_JIT_MAX_REGISTERS, 32);
  option("optimisation level 9", CU_JIT_OPTIMIZATION_LEVEL, 9);
  option("optimisation level 4", CU_JIT_OPTIMIZATION_LEVEL, 4);
  option("target 9999", CU_JIT_TARGET, 9999);
  option("target 70", CU_JIT_TARGET, 70);
  option("target 90", CU_JIT_TARGET, 90);
  option("target from context", CU_JIT_TARGET_FROM_CUCONTEXT, 0);
  option("threads per block 0", CU_JIT_THREADS_PER_BLOCK, 0);
  option("cache mode 9", CU_JIT_CACHE_MODE, 9);
  option("log buffer without size", CU_JIT_ERROR_LOG_BUFFER, 0);
  option("debug info", CU_JIT_GENERATE_DEBUG_INFO, 1);
  option("split compile", CU_JIT_SPLIT_COMPILE, 2);
  option("deprecated FTZ", CU_JIT_FTZ, 1);
  option("LTO", CU_JIT_LTO, 1);
}

void small_log() {
  boot();
  char el[8];
  std::memset(el, 'x', sizeof el);
  CUjit_option lo[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* lv[] = {el, reinterpret_cast<void*>(std::uintptr_t{4})};
  auto m = reinterpret_cast<CUmodule>(1);
  const std::string bad = headed("7.0", "sm_70", ".visible .entry k() { this is wrong; }\n");
  CALL(cuModuleLoadDataEx(&m, bad.c_str(), 2, lo, lv));
  STEP("beyond the buffer untouched", el[4] == 'x');
  STEP("terminated inside the buffer", el[3] == 0);
  STEP("module untouched", m == reinterpret_cast<CUmodule>(1));
  STEP("module null", m == nullptr);
}

void module_unloaded(const std::string& then) {
  boot();
  CUmodule m = module_of(PTX);
  CUfunction f = fn("ok", m);
  CUfunction x;
  CUdeviceptr p = 0;
  std::size_t z;
  SETUP(cuModuleGetGlobal(&p, &z, m, "gvar"));
  SETUP(launch(f));
  SETUP(cuCtxSynchronize());
  CALL(cuModuleUnload(m));
  int v;
  const char* n;
  if (then == "attribute") CALL(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  if (then == "launch") {
    CALL(launch(f));
    CALL(cuCtxSynchronize());
  }
  if (then == "name") CALL(cuFuncGetName(&n, f));
  if (then == "getfunction") CALL(cuModuleGetFunction(&x, m, "ok"));
  if (then == "global_copy") CALL(cuMemcpyDtoH(&v, p, 4));
  if (then == "unload") CALL(cuModuleUnload(m));
}

void module_unloaded_while_running() {
  boot();
  static Gate gate;
  CUmodule m = module_of(PTX);
  CUfunction f = fn("ok", m);
  CUstream s = stream();
  shut(gate, s);
  CALL(launch(f, s));
  open_later(gate);
  CALL(cuModuleUnload(m));
  STEP("unload waited for the kernel", gate.open.load());
  CALL(cuStreamSynchronize(s));
}

void library_unloaded(const std::string& then) {
  boot();
  CUlibrary lib = nullptr;
  CUkernel k = nullptr;
  CUkernel k2;
  CUfunction f = nullptr;
  const char* n;
  SETUP(cuLibraryLoadData(&lib, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SETUP(cuLibraryGetKernel(&k, lib, "ok"));
  SETUP(cuKernelGetFunction(&f, k));
  SETUP(launch(f));
  SETUP(cuCtxSynchronize());
  CALL(cuLibraryUnload(lib));
  if (then == "launch") {
    CALL(launch((CUfunction)k));
    CALL(cuCtxSynchronize());
  }
  if (then == "getfunction") CALL(cuKernelGetFunction(&f, k));
  if (then == "getkernel") CALL(cuLibraryGetKernel(&k2, lib, "ok"));
  if (then == "name") CALL(cuKernelGetName(&n, k));
  if (then == "function_launch") {
    CALL(launch(f));
    CALL(cuCtxSynchronize());
  }
}

void loading(const char* mode) {
  setenv("CUDA_MODULE_LOADING", mode, 1);
  boot();
  auto m = static_cast<CUmoduleLoadingMode>(77);
  CALL(cuModuleGetLoadingMode(&m));
  STEP("mode", m);
  CUfunction f = fn("ok");
  CUfunction g = fn("ok2");
  auto st = static_cast<CUfunctionLoadingState>(77);
  CALL(cuFuncIsLoaded(&st, f));
  STEP("loaded before", st);
  CALL(cuFuncLoad(f));
  CALL(cuFuncIsLoaded(&st, f));
  STEP("loaded after cuFuncLoad", st);
  CALL(cuFuncLoad(f));
  CALL(cuFuncIsLoaded(&st, g));
  STEP("the other function", st);
  CALL(launch(g));
  CALL(cuFuncIsLoaded(&st, g));
  STEP("after a launch", st);
  CUlibrary lib = nullptr;
  CUkernel k = nullptr;
  CUfunction kf = nullptr;
  SETUP(cuLibraryLoadData(&lib, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SETUP(cuLibraryGetKernel(&k, lib, "ok"));
  SETUP(cuKernelGetFunction(&kf, k));
  CALL(cuFuncIsLoaded(&st, kf));
  STEP("a library's kernel", st);
}

}  // namespace

void add_modules(CaseList& list) {
  list.independent("library_load_bad_images", library_images);
  list.independent("module_fatbin_bad_images", fatbin_images);
  list.independent("module_options", jit_options);
  list.chained("module_log_small_buffer", small_log);
  for (const std::string then : {"attribute", "launch", "name", "getfunction", "global_copy", "unload"})
    list.chained("module_unload_then_" + then, [then] { module_unloaded(then); });
  list.chained("module_unload_while_running", module_unloaded_while_running);
  for (const std::string then : {"launch", "getfunction", "getkernel", "name", "function_launch"})
    list.chained("library_unload_then_" + then, [then] { library_unloaded(then); });
  for (const char* mode : {"LAZY", "EAGER"})
    list.chained(std::string{"module_loading_"} + mode, [mode] { loading(mode); });
}

}  // namespace probe

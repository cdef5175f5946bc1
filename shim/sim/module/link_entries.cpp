// SPDX-License-Identifier: Apache-2.0
// Entry points: linking (recorded: link).
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>

#include "context/context.h"
#include "core/call.h"
#include "module/image.h"
#include "module/jit_options.h"
#include "module/linked.h"
#include "ptx/program.h"

using namespace cufault::sim;

namespace {

struct Link : Object {
  static constexpr Kind kKind = Kind::link;

  JitOptions options;
  std::vector<std::string> texts;
  std::set<std::string> defined;
  bool twice = false;     // something is defined twice
  bool complete = false;
  std::string result;
};

void add_ptx(Link& link, const std::string& text) {
  try {
    const ptx::Program program = ptx::parse(text, false);
    for (const ptx::Function& function : program.functions)
      if (function.has_body && !link.defined.insert(function.name).second) link.twice = true;
    require(!link.twice, CUDA_ERROR_UNKNOWN);
  } catch (const ptx::Problem& problem) {
    link.options.write_error(problem.text);
    refuse(problem.kind == ptx::Problem::Kind::not_ptx   ? CUDA_ERROR_INVALID_IMAGE
           : problem.kind == ptx::Problem::Kind::version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                                         : CUDA_ERROR_INVALID_PTX);
  }
  link.texts.push_back(text);
}

void add(Call& call, Link& link, CUjitInputType type, const void* data, size_t size) {
  require(!link.complete);
  switch (type) {
    case CU_JIT_INPUT_PTX: {
      const auto* text = static_cast<const char*>(data);
      add_ptx(link, std::string(text, strnlen(text, size)));
      break;
    }
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY:
      if (size >= 24 && is_linked(data)) {
        for (const std::string& text : linked_texts(data)) add_ptx(link, text);
        break;
      }
      require(size >= 64 && std::string_view(static_cast<const char*>(data), 4) == "\x7f" "ELF", CUDA_ERROR_INVALID_IMAGE);
      call.unmodelled("machine code as an input");
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      require(size >= 8 && (std::string_view(static_cast<const char*>(data), 4) == "\x7f" "ELF" ||
                            std::string_view(static_cast<const char*>(data), 8) == "!<arch>\n"),
              CUDA_ERROR_UNKNOWN);
      call.unmodelled("host objects and libraries as inputs");
    case CU_JIT_INPUT_NVVM: refuse(CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult CUDAAPI cuLinkCreate(unsigned int count, CUjit_option* keys, void** values, CUlinkState* out) {
  return api(__func__, kFaults, [&](Call& call) {
    (void)call.current();
    require(out != nullptr);
    auto link = std::make_shared<Link>();
    link->options = JitOptions(call, count, keys, values);
    *out = static_cast<CUlinkState>(call.driver.handles->insert(Kind::link, std::move(link)));
  });
}

CUresult CUDAAPI cuLinkAddData(CUlinkState handle, CUjitInputType type, void* data, size_t size, const char* name, unsigned int count,
                               CUjit_option* keys, void** values) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)name;
    const auto link = call.use<Link>(handle);
    require(data != nullptr && size != 0);
    (void)JitOptions(call, count, keys, values);
    add(call, *link, type, data, size);
  });
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char* path, unsigned int count, CUjit_option* keys,
                               void** values) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto link = call.use<Link>(handle);
    require(path != nullptr);
    (void)JitOptions(call, count, keys, values);
    const std::string content = read_file(path);
    add(call, *link, type, content.data(), content.size());
  });
}

CUresult CUDAAPI cuLinkComplete(CUlinkState handle, void** cubin, size_t* size) {
  return api(__func__, kPlain, [&](Call& call) {
    const auto link = call.use<Link>(handle);
    require(cubin != nullptr);
    require(!link->complete, CUDA_ERROR_INVALID_HANDLE);
    require(!link->twice, CUDA_ERROR_UNKNOWN);
    try {
      ptx::Program all;
      for (const std::string& text : link->texts) {
        ptx::Program program = ptx::parse(text, false);
        std::move(program.functions.begin(), program.functions.end(), std::back_inserter(all.functions));
      }
      ptx::resolve_calls(all);
    } catch (const ptx::Problem& problem) {
      link->options.write_error(problem.text);
      refuse(CUDA_ERROR_INVALID_SOURCE);
    }
    link->complete = true;
    link->result = make_linked(link->texts);
    *cubin = link->result.data();
    if (size != nullptr) *size = link->result.size();
  });
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState handle) {
  return api(__func__, {.needs_init = false}, [&](Call& call) { call.destroy<Link>(handle); });
}

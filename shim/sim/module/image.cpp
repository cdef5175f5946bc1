// SPDX-License-Identifier: Apache-2.0
// Reading images: which kind it is, and what PTX text says. Cubins are read in cubin.cpp.
#include "module/image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/refusal.h"
#include "module/binary.h"
#include "module/linked.h"
#include "ptx/program.h"

namespace cufault::sim {

namespace {

void add_program(Image& image, const ptx::Program& program) {
  int constants = 0;
  for (const ptx::Variable& variable : program.variables) {
    if (variable.space == ptx::Space::constant) constants += static_cast<int>(variable.size);
    if (variable.space == ptx::Space::shared || variable.external) continue;
    image.globals.push_back({variable.name, variable.size, variable.managed, variable.initial});
  }
  for (const ptx::Function& function : program.functions) {
    if (!function.entry || !function.has_body) continue;
    KernelImage kernel;
    kernel.name = function.name;
    for (const ptx::Variable& parameter : function.parameters) kernel.parameters.push_back({parameter.offset, parameter.size});
    kernel.parameter_bytes = function.parameter_bytes;
    if (function.max_threads[0] != 0)
      kernel.max_threads = std::min(1024, function.max_threads[0] * function.max_threads[1] * function.max_threads[2]);
    kernel.static_shared = static_cast<int>(function.shared_bytes);
    kernel.constant = constants;
    kernel.local = static_cast<int>(function.local_bytes);
    kernel.ptx_version = program.target;
    kernel.cluster_must_be_set = function.explicit_cluster || function.cluster[0] != 0;
    std::copy(std::begin(function.cluster), std::end(function.cluster), std::begin(kernel.cluster));
    kernel.code = &function;
    image.kernels.push_back(std::move(kernel));
  }
}

}  // namespace

const KernelImage* Image::kernel(const std::string& name) const noexcept {
  const auto at = std::find_if(kernels.begin(), kernels.end(), [&](const KernelImage& kernel) { return kernel.name == name; });
  return at == kernels.end() ? nullptr : &*at;
}

std::shared_ptr<const Image> read_ptx(const std::vector<std::string>& texts, std::string& log) {
  auto image = std::make_shared<Image>();
  try {
    for (const std::string& text : texts) {
      auto program = std::make_shared<const ptx::Program>(ptx::parse(text, texts.size() == 1));
      add_program(*image, *program);
      image->programs.push_back(std::move(program));
    }
  } catch (const ptx::Problem& problem) {
    log = problem.text;
    switch (problem.kind) {
      case ptx::Problem::Kind::not_ptx: refuse(CUDA_ERROR_INVALID_IMAGE);
      case ptx::Problem::Kind::version: refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
      case ptx::Problem::Kind::invalid: refuse(CUDA_ERROR_INVALID_PTX);
    }
  }
  return image;
}

std::shared_ptr<const Image> read_image(const void* bytes, std::string& log) {
  if (const auto texts = linked_texts(bytes); !texts.empty() || is_linked(bytes)) return read_ptx(texts, log);
  if (is_binary(bytes)) return read_binary(bytes, log);
  return read_ptx({std::string(static_cast<const char*>(bytes))}, log);
}

std::size_t image_size(const void* bytes) noexcept {
  if (is_linked(bytes)) return linked_size(bytes);
  if (is_binary(bytes)) return binary_size(bytes);
  return std::strlen(static_cast<const char*>(bytes)) + 1;
}

}  // namespace cufault::sim

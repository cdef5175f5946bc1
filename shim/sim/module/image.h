// SPDX-License-Identifier: Apache-2.0
// What can be read out of an image of device code: PTX text, cubin or fat binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api.h"

namespace cufault::sim {

namespace ptx {
struct Function;
struct Program;
}  // namespace ptx

struct ParameterImage {
  std::size_t offset;
  std::size_t size;
};

struct KernelImage {
  std::string name;
  std::vector<ParameterImage> parameters;
  std::size_t parameter_bytes = 0;
  int max_threads = 1024;
  int static_shared = 0;
  int constant = 0;
  int local = 0;
  int registers = 16;
  int ptx_version = 0;
  int binary_version = 90;
  bool cluster_must_be_set = false;
  int cluster[3] = {0, 0, 0};
  const ptx::Function* code = nullptr;  // null: does not compute here
};

struct GlobalImage {
  std::string name;
  std::size_t size = 0;
  bool managed = false;
  std::vector<unsigned char> initial;
};

struct Image {
  std::vector<KernelImage> kernels;
  std::vector<GlobalImage> globals;
  std::vector<std::shared_ptr<const ptx::Program>> programs;

  [[nodiscard]] const KernelImage* kernel(const std::string& name) const noexcept;
};

// Reads an image of any kind. Refuses with the driver's code for what is wrong with it; `log` says more.
[[nodiscard]] std::shared_ptr<const Image> read_image(const void* bytes, std::string& log);
// Reads PTX texts that belong together.
[[nodiscard]] std::shared_ptr<const Image> read_ptx(const std::vector<std::string>& texts, std::string& log);
// How many bytes an image has, by its own headers.
[[nodiscard]] std::size_t image_size(const void* bytes) noexcept;

}  // namespace cufault::sim

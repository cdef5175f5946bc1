// SPDX-License-Identifier: Apache-2.0
// Which options are refused.
#include "module/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/call.h"

namespace cufault::sim {

JitOptions::JitOptions(const Call& call, unsigned count, CUjit_option* keys, void** values) {
  require(count == 0 || (keys != nullptr && values != nullptr));
  bool error_buffer = false, error_size = false, info_buffer = false, info_size = false;
  for (unsigned i = 0; i < count; ++i) {
    const auto value = reinterpret_cast<std::uintptr_t>(values[i]);
    require(keys[i] >= 0 && keys[i] < CU_JIT_NUM_OPTIONS);
    switch (keys[i]) {
      case CU_JIT_THREADS_PER_BLOCK:
        if (value == 0) {
          call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "CU_JIT_THREADS_PER_BLOCK of 0");
          refuse(CUDA_ERROR_INVALID_VALUE);
        }
        break;
      case CU_JIT_TARGET:
        require(value == 50 || value == 52 || value == 60 || value == 61 || value == 70 || value == 75 || value == 80 || value == 86 ||
                value == 87 || value == 89 || value == 90);
        require(value >= 90, CUDA_ERROR_INVALID_SOURCE);
        break;
      case CU_JIT_CACHE_MODE: require(value <= CU_JIT_CACHE_OPTION_CA); break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error_buffer = true;
        error_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_size = true;
        error_size_ = value & 0xffffffffu;
        error_size_value_ = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER: info_buffer = true; break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_size = true;
        values[i] = nullptr;  // nothing is logged there
        break;
      default: break;
    }
  }
  require((!error_buffer || error_size) && (!info_buffer || info_size));
}

void JitOptions::write_error(const std::string& text) const {
  if (error_ == nullptr || error_size_ == 0) return;
  const std::size_t count = std::min(text.size(), error_size_ - 1);
  std::memcpy(error_, text.data(), count);
  error_[count] = '\0';
  if (error_size_value_ != nullptr) *error_size_value_ = reinterpret_cast<void*>(count + 1);
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), CUDA_ERROR_FILE_NOT_FOUND);
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  content.push_back('\0');
  return content;
}

}  // namespace cufault::sim

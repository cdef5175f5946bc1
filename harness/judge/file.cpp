// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#include "file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "error.h"

namespace cufault::judge {

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw file_error(path, std::string("cannot be read: ") + std::strerror(errno));
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (stream.bad()) throw file_error(path, "reading failed half way");
  return std::move(bytes).str();
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (!stream) throw file_error(path, std::string("cannot be written: ") + std::strerror(errno));
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw file_error(path, "writing failed half way");
}

}  // namespace cufault::judge

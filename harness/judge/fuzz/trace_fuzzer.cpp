// SPDX-License-Identifier: Apache-2.0
// Fuzzes the trace reader and the ledger: any bytes give events or a file_error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "error.h"
#include "ledger.h"
#include "trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cufault::judge;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The first two bytes say where the process file ends and the segment begins.
  const std::size_t cut = size < 2 ? size : std::min<std::size_t>(size, 2u + data[0] + 256u * data[1]);
  try {
    const process_file owner = decode_process(bytes.substr(std::min<std::size_t>(size, 2), cut), "process");
    trace source;
    source.processes.push_back(owner.info);
    source.events = decode_segment(bytes.substr(cut), owner, "trace").events;
    static_cast<void>(make_ledger(source));
  } catch (const file_error&) {
  }
  return 0;
}

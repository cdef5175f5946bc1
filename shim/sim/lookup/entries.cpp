// SPDX-License-Identifier: Apache-2.0
// Entry points: cuGetProcAddress in both versions, and private tables.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/call.h"
#include "lookup/symbols.h"

using namespace cufault::sim;

namespace {

constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

struct Answer {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

Answer look_up(std::string_view name, int version, bool per_thread, int driver_version) {
  const auto rows = symbol_rows();
  const auto first = std::lower_bound(rows.begin(), rows.end(), name, [](const SymbolRow& row, std::string_view wanted) {
    return row.function < wanted;
  });
  const SymbolRow *plain = nullptr, *own = nullptr;
  bool exists = false;
  for (auto row = first; row != rows.end() && row->function == name; ++row) {
    if (row->since > driver_version) continue;
    exists = true;
    if (version >= 0 && row->since > version) continue;  // recorded: -1 means the newest
    (row->per_thread ? own : plain) = &*row;
  }
  const SymbolRow* found = per_thread && own != nullptr && (plain == nullptr || own->since >= 7000) ? own : plain;
  if (found != nullptr) return {found->address, CU_GET_PROC_ADDRESS_SUCCESS};
  return {nullptr, exists ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND};
}

Answer asked(Call& call, const char* name, void** out, int version, cuuint64_t flags) {
  if (name == nullptr || out == nullptr) {
    call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null name or result");
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  require((flags & ~kFlags) == 0 && version <= call.driver.configuration().driver_version);
  return look_up(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0,
                 call.driver.configuration().driver_version);
}

}  // namespace

CUresult CUDAAPI cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult* status) {
  return api(__func__, kAnywhere, [&](Call& call) {
    const Answer answer = asked(call, name, out, version, flags);
    *out = answer.address;
    if (status != nullptr) *status = answer.status;
  });
}

#undef cuGetProcAddress
extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI cuGetProcAddress(const char* name, void** out, int version,
                                                                                   cuuint64_t flags) {
  return api(__func__, kAnywhere, [&](Call& call) {
    const Answer answer = asked(call, name, out, version, flags);
    require(answer.address != nullptr, CUDA_ERROR_NOT_FOUND);
    *out = answer.address;
  });
}

// The tables behind this call are private to NVIDIA's own libraries and are not imitated: none is ever found.
CUresult CUDAAPI cuGetExportTable(const void** table, const CUuuid* id) {
  return api(__func__, kAnywhere, [&](Call& call) {
    require(table != nullptr);
    *table = nullptr;
    require(id != nullptr);
    static constexpr unsigned char kNone[sizeof id->bytes] = {};
    if (std::memcmp(id->bytes, kNone, sizeof kNone) != 0) report_unmodelled(call.symbol, "private tables");
    refuse(CUDA_ERROR_INVALID_VALUE);  // recorded for an unknown table
  });
}

// SPDX-License-Identifier: Apache-2.0
// Entry points: tensor maps. The 128 bytes are ours: only these functions read them (recorded: tensor_map_tiled).
#include <cstring>

#include "core/call.h"

using namespace cufault::sim;

namespace {

unsigned element_size(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

bool is_float(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

unsigned swizzle_bytes(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return 128;
    default: return 0;
  }
}

constexpr unsigned kAddressAlignment = 16;

}  // namespace

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                        const cuuint64_t* dimensions, const cuuint64_t* strides, const cuuint32_t* box,
                                        const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return api(__func__, kPlain, [&](Call& call) {
    (void)call;
    require(map != nullptr && dimensions != nullptr && strides != nullptr && box != nullptr && element_strides != nullptr);
    const unsigned size = element_size(type);
    require(rank >= 1 && rank <= 5 && reinterpret_cast<std::uintptr_t>(address) % kAddressAlignment == 0);
    require(static_cast<unsigned>(interleave) <= CU_TENSOR_MAP_INTERLEAVE_32B && (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || rank >= 3));
    require(static_cast<unsigned>(swizzle) <= CU_TENSOR_MAP_SWIZZLE_128B);
    require(static_cast<unsigned>(promotion) <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    require(static_cast<unsigned>(fill) <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    require(fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float(type));
    for (unsigned i = 0; i < rank; ++i) {
      require(dimensions[i] != 0 && dimensions[i] <= (cuuint64_t{1} << 32));
      require(box[i] != 0 && box[i] <= 256 && element_strides[i] != 0 && element_strides[i] <= 8);
      if (i + 1 < rank) require(strides[i] % 16 == 0 && strides[i] < (cuuint64_t{1} << 40));
    }
    const cuuint64_t row = cuuint64_t{box[0]} * size;
    if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) require(row % 16 == 0);
    if (const unsigned limit = swizzle_bytes(swizzle); limit != 0) require(row <= limit);
    std::memset(static_cast<void*>(map), 0, sizeof *map);
    std::memcpy(static_cast<void*>(map), &address, sizeof address);
  });
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return api(__func__, kPlain, [&](Call& call) {
    if (map == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null map");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    require(address != nullptr && reinterpret_cast<std::uintptr_t>(address) % kAddressAlignment == 0);
    std::memcpy(static_cast<void*>(map), &address, sizeof address);
  });
}

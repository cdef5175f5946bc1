// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what may be encoded in one.
#include <cstdlib>

#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

struct Tensor {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint32_t rank = 2;
  void* address = nullptr;
  cuuint64_t dim[6] = {64, 64, 4, 4, 4, 4};
  cuuint64_t stride[6] = {256, 16384, 65536, 262144, 1048576, 4194304};
  cuuint32_t box[6] = {32, 8, 1, 1, 1, 1};
  cuuint32_t element_stride[6] = {1, 1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  // Which of the four arrays, by bit, are not given: dimensions, strides, box, element strides.
  unsigned absent = 0;

  CUresult encode(CUtensorMap* map) const {
    const auto given = [this](auto* array, unsigned bit) { return (absent >> bit & 1) != 0 ? nullptr : array; };
    return cuTensorMapEncodeTiled(map, type, rank, address, given(dim, 0), given(stride, 1), given(box, 2),
                                  given(element_stride, 3), interleave, swizzle, promotion, fill);
  }
};

constexpr unsigned dimensions = 1, strides = 2, box = 4, element_strides = 8;

CUtensorMap map_space[2];  // with room for a misaligned one

template <class Change>
void encoded(const char* what, const Tensor& base, Change change) {
  const Tensor tensor = with(base, change);
  STEP(what, tensor.encode(map_space));
}

void shape(const Tensor& good) {
  encoded("good", good, [](auto&) {});
  encoded("type 77", good, [](auto& t) { t.type = static_cast<CUtensorMapDataType>(77); });
  encoded("rank 0", good, [](auto& t) { t.rank = 0; });
  encoded("rank 1", good, [](auto& t) { t.rank = 1; });
  encoded("rank 5", good, [](auto& t) { t.rank = 5; });
  encoded("rank 6", good, [](auto& t) { t.rank = 6; });
  encoded("null address", good, [](auto& t) { t.address = nullptr; });
  encoded("address + 8", good, [](auto& t) { t.address = static_cast<char*>(t.address) + 8; });
  encoded("address + 16", good, [](auto& t) { t.address = static_cast<char*>(t.address) + 16; });
  encoded("heap address", good, [](auto& t) { t.address = std::aligned_alloc(64, 65536); });
  encoded("dimension 0", good, [](auto& t) { t.dim[0] = 0; });
  encoded("dimension 2^32", good, [](auto& t) { t.dim[1] = 1ull << 32; });
  encoded("dimension 2^32 + 1", good, [](auto& t) { t.dim[1] = (1ull << 32) + 1; });
  encoded("stride 264", good, [](auto& t) { t.stride[0] = 264; });
  encoded("stride 128 below the row", good, [](auto& t) { t.stride[0] = 128; });
  encoded("stride 0", good, [](auto& t) { t.stride[0] = 0; });
  encoded("stride 2^40", good, [](auto& t) { t.stride[0] = 1ull << 40; });
}

void layout(const Tensor& good) {
  encoded("box 0", good, [](auto& t) { t.box[0] = 0; });
  encoded("box 256", good, [](auto& t) { t.box[0] = 256, t.dim[0] = 256, t.stride[0] = 1024; });
  encoded("box 257", good, [](auto& t) { t.box[1] = 257; });
  encoded("box wider than the tensor", good, [](auto& t) { t.box[0] = 128; });
  encoded("box of 12 bytes", good, [](auto& t) { t.box[0] = 3; });
  encoded("element stride 0", good, [](auto& t) { t.element_stride[0] = 0; });
  encoded("element stride 8", good, [](auto& t) { t.element_stride[1] = 8; });
  encoded("element stride 9", good, [](auto& t) { t.element_stride[1] = 9; });
  encoded("interleave 16B at rank 2", good, [](auto& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
  encoded("interleave 77", good, [](auto& t) { t.interleave = static_cast<CUtensorMapInterleave>(77); });
  encoded("swizzle 128B with a 128-byte row", good, [](auto& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; });
  encoded("swizzle 32B with a 128-byte row", good, [](auto& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  encoded("swizzle 77", good, [](auto& t) { t.swizzle = static_cast<CUtensorMapSwizzle>(77); });
  encoded("promotion 77", good, [](auto& t) { t.promotion = static_cast<CUtensorMapL2promotion>(77); });
  encoded("fill 77", good, [](auto& t) { t.fill = static_cast<CUtensorMapFloatOOBfill>(77); });
  const Tensor nan_filled =
      with(good, [](auto& t) { t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
  encoded("NaN fill of floats", nan_filled, [](auto&) {});
  encoded("NaN fill of integers", nan_filled, [](auto& t) { t.type = CU_TENSOR_MAP_DATA_TYPE_INT32; });
}

void pointers(const Tensor& good) {
  STEP("null map", good.encode(nullptr));
  STEP("map misaligned", good.encode((CUtensorMap*)((char*)map_space + 8)));
  encoded("null dimensions", good, [](auto& t) { t.absent = dimensions; });
  encoded("null strides", good, [](auto& t) { t.absent = strides; });
  encoded("null strides at rank 1", good, [](auto& t) { t.absent = strides, t.rank = 1; });
  encoded("null box", good, [](auto& t) { t.absent = box; });
  encoded("null element strides", good, [](auto& t) { t.absent = element_strides; });
}

void replace_address(CUdeviceptr base) {
  CUtensorMap& tm = map_space[0];
  CALL(cuTensorMapReplaceAddress(&tm, (void*)(base + 1024)));
  CALL(cuTensorMapReplaceAddress(&tm, (void*)(base + 8)));
  CALL(cuTensorMapReplaceAddress(nullptr, (void*)base));
  CALL(cuTensorMapReplaceAddress(&tm, nullptr));
}

void tiled() {
  boot();
  CUdeviceptr base = mem(1 << 20);
  Tensor good;
  good.address = reinterpret_cast<void*>(base);
  shape(good);
  layout(good);
  pointers(good);
  SETUP(good.encode(map_space));
  replace_address(base);
}

}  // namespace

void add_tensor_maps(CaseList& list) { list.independent("tensor_map_tiled", tiled); }

}  // namespace probe

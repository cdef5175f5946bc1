// SPDX-License-Identifier: Apache-2.0
// Texture and surface references, as far as a driver still has them; graphics resources; tensor maps of images.
#include "cases/cases.h"
#include "cases/fixtures.h"

namespace probe {
namespace {

CUDA_ARRAY_DESCRIPTOR shape() {
  CUDA_ARRAY_DESCRIPTOR d{};
  d.Width = d.Height = 64;
  d.Format = CU_AD_FORMAT_FLOAT;
  d.NumChannels = 1;
  return d;
}

void read_reference(CUtexref tr) {
  CUdeviceptr p;
  CUaddress_mode am;
  CUarray arr;
  CUmipmappedArray mip;
  CUfilter_mode fm;
  CUarray_format format;
  float color[4];
  float low;
  float high;
  int n;
  unsigned u;
  CALL(cuTexRefGetAddress(&p, tr));
  CALL(cuTexRefGetAddressMode(&am, tr, 0));
  CALL(cuTexRefGetAddressMode(&am, tr, 9));
  CALL(cuTexRefGetArray(&arr, tr));
  CALL(cuTexRefGetBorderColor(color, tr));
  CALL(cuTexRefGetFilterMode(&fm, tr));
  CALL(cuTexRefGetFlags(&u, tr));
  CALL(cuTexRefGetFormat(&format, &n, tr));
  CALL(cuTexRefGetMaxAnisotropy(&n, tr));
  CALL(cuTexRefGetMipmapFilterMode(&fm, tr));
  CALL(cuTexRefGetMipmapLevelBias(&low, tr));
  CALL(cuTexRefGetMipmapLevelClamp(&low, &high, tr));
  CALL(cuTexRefGetMipmappedArray(&mip, tr));
}

void change_reference(CUtexref tr) {
  CUdeviceptr p = mem();
  std::size_t z;
  const CUDA_ARRAY_DESCRIPTOR d = shape();
  CUarray a = nullptr;
  float color[4] = {};
  SETUP(cuArrayCreate(&a, &d));
  CALL(cuTexRefSetFormat(tr, CU_AD_FORMAT_FLOAT, 1));
  CALL(cuTexRefSetFormat(tr, CU_AD_FORMAT_FLOAT, 3));
  CALL(cuTexRefSetAddress(&z, tr, p, 4096));
  CALL(cuTexRefSetAddress(&z, tr, 0, 4096));
  CALL(cuTexRefSetAddress2D(tr, &d, p, 256));
  CALL(cuTexRefSetAddress2D(tr, nullptr, p, 256));
  CALL(cuTexRefSetArray(tr, a, CU_TRSA_OVERRIDE_FORMAT));
  CALL(cuTexRefSetArray(tr, a, 0));
  CALL(cuTexRefSetArray(tr, nullptr, CU_TRSA_OVERRIDE_FORMAT));
  CALL(cuTexRefSetAddressMode(tr, 0, CU_TR_ADDRESS_MODE_CLAMP));
  CALL(cuTexRefSetAddressMode(tr, 0, (CUaddress_mode)9));
  CALL(cuTexRefSetFilterMode(tr, CU_TR_FILTER_MODE_LINEAR));
  CALL(cuTexRefSetFilterMode(tr, (CUfilter_mode)9));
  CALL(cuTexRefSetFlags(tr, 0));
  CALL(cuTexRefSetFlags(tr, 0xFFFF));
  CALL(cuTexRefSetBorderColor(tr, color));
  CALL(cuTexRefSetMaxAnisotropy(tr, 4));
  CALL(cuTexRefSetMipmapFilterMode(tr, CU_TR_FILTER_MODE_POINT));
  CALL(cuTexRefSetMipmapLevelBias(tr, 0));
  CALL(cuTexRefSetMipmapLevelClamp(tr, 0, 1));
  CALL(cuTexRefSetMipmappedArray(tr, nullptr, CU_TRSA_OVERRIDE_FORMAT));
  CALL(cuParamSetTexRef(fn("ok"), CU_PARAM_TR_DEFAULT, tr));
}

void references() {
  boot();
  CUtexref tr = nullptr;
  CUarray a = nullptr;
  CALL(cuTexRefCreate(nullptr));
  CALL(cuTexRefCreate(&tr));
  STEP("a reference was made", tr != nullptr);
  read_reference(tr);
  change_reference(tr);
  CALL(cuTexRefDestroy(tr));
  CALL(cuTexRefDestroy(nullptr));
  CALL(cuSurfRefGetArray(&a, nullptr));
  CALL(cuSurfRefSetArray(nullptr, a, 0));
}

void graphics() {
  boot();
  CUgraphicsResource none = nullptr;
  CUarray a;
  CUmipmappedArray mip;
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d{};
  CUstream q = stream();
  CALL(cuGraphicsUnmapResources(0, nullptr, q));
  CALL(cuGraphicsUnmapResources(1, nullptr, q));
  CALL(cuGraphicsUnmapResources(1, &none, q));
  CALL(cuGraphicsSubResourceGetMappedArray(&a, nullptr, 0, 0));
  CALL(cuGraphicsResourceGetMappedMipmappedArray(&mip, nullptr));
  CALL(cuExternalMemoryGetMappedMipmappedArray(&mip, nullptr, &d));
  CALL(cuExternalMemoryGetMappedMipmappedArray(nullptr, nullptr, nullptr));
}

// An image of 64 x 64 with 64 channels in batches of 4.
struct Image {
  cuuint32_t rank = 4;
  void* address = nullptr;
  cuuint64_t dim[5] = {64, 64, 64, 4, 1};
  cuuint64_t stride[4] = {256, 16384, 1048576, 4194304};
  int lower[3] = {0, 0, 0};
  int upper[3] = {0, 0, 0};
  cuuint32_t channels = 32;
  cuuint32_t pixels = 16;
  cuuint32_t element_stride[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapIm2ColWideMode mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;

  CUresult encode() const {
    static CUtensorMap map;
    return cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address, dim, stride, lower, upper,
                                   channels, pixels, element_stride, interleave, CU_TENSOR_MAP_SWIZZLE_NONE,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  CUresult encode_wide() const {
    static CUtensorMap map;
    return cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address, dim, stride, lower[0],
                                       upper[0], channels, pixels, element_stride, interleave, mode,
                                       CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
};

void images() {
  boot();
  Image good;
  good.address = reinterpret_cast<void*>(mem(16 << 20));
  const auto t = [&](const std::string& what, auto change) {
    const Image image = with(good, change);
    STEP(what, image.encode());
    STEP(what + ", wide", image.encode_wide());
  };
  t("good", [](auto&) {});
  t("rank 2", [](auto& i) { i.rank = 2; });
  t("rank 3", [](auto& i) { i.rank = 3; });
  t("rank 5", [](auto& i) { i.rank = 5; });
  t("rank 6", [](auto& i) { i.rank = 6; });
  t("null address", [](auto& i) { i.address = nullptr; });
  t("address + 8", [](auto& i) { i.address = static_cast<char*>(i.address) + 8; });
  t("stride 264", [](auto& i) { i.stride[0] = 264; });
  t("0 channels", [](auto& i) { i.channels = 0; });
  t("257 channels", [](auto& i) { i.channels = 257; });
  t("0 pixels", [](auto& i) { i.pixels = 0; });
  t("1025 pixels", [](auto& i) { i.pixels = 1025; });
  t("lower corner -129", [](auto& i) { i.lower[0] = -129; });
  t("upper corner 128", [](auto& i) { i.upper[0] = 128; });
  t("element stride 9", [](auto& i) { i.element_stride[1] = 9; });
  t("interleave 77", [](auto& i) { i.interleave = static_cast<CUtensorMapInterleave>(77); });
  t("mode 77", [](auto& i) { i.mode = static_cast<CUtensorMapIm2ColWideMode>(77); });
}

}  // namespace

void add_more_references(CaseList& list) {
  list.independent("more_references", references);
  list.independent("more_graphics", graphics);
  list.independent("more_tensor_map_images", images);
}

}  // namespace probe

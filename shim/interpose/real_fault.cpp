// SPDX-License-Identifier: Apache-2.0
// The kernels, as PTX text that every driver since CUDA 11 translates for its own device, and their launch.
#include "real_fault.h"

#include "cufault/api_table.h"
#include "slots.h"

namespace cufault::interpose {
namespace {

constexpr std::int32_t illegal_address = 700;
constexpr std::int32_t misaligned_address = 716;
constexpr std::int32_t launch_failed = 719;

constexpr const char *kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry cufault_illegal(.param .u64 place) { .reg .b64 %a; .reg .b32 %v; mov.u64 %a, 64; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }
.visible .entry cufault_misaligned(.param .u64 place) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [place]; cvta.to.global.u64 %a, %a; add.u64 %a, %a, 1; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }
.visible .entry cufault_trap(.param .u64 place) { trap; ret; }
)";

const char *kernel_for(std::int32_t code) noexcept {
  switch (code) {
    case illegal_address: return "cufault_illegal";
    case misaligned_address: return "cufault_misaligned";
    case launch_failed:
    default: return "cufault_trap";
  }
}

// Calls straight to the driver, in order, until one does not answer as expected.
class sequence {
 public:
  explicit sequence(process::text<256> &why) noexcept : why_(why) {}

  template <class... Arguments>
  sequence &call(const char *symbol, std::int32_t expected, Arguments... arguments) noexcept {
    if (!good_) return *this;
    const auto function = reinterpret_cast<std::int32_t (*)(Arguments...)>(backend_functions[api::symbol_index(symbol)]);
    const std::int32_t answer = function(arguments...);
    good_ = answer == expected;
    if (!good_) why_ << symbol << " answers " << answer << " instead of " << expected;
    return *this;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  process::text<256> &why_;
  bool good_ = true;
};

}  // namespace

bool fault_the_device(std::int32_t code, process::text<256> &why) noexcept {
  void *module = nullptr;
  void *function = nullptr;
  std::uint64_t place = 0;
  void *arguments[] = {&place};
  void *const nothing = nullptr;
  // What it takes stays taken: after the fault the driver frees nothing for anybody.
  return sequence(why)
      .call("cuMemAlloc_v2", 0, &place, std::uint64_t{64})
      .call("cuModuleLoadData", 0, &module, kernels)
      .call("cuModuleGetFunction", 0, &function, module, kernel_for(code))
      .call("cuLaunchKernel", 0, function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, nothing, &arguments[0], nothing)
      .call("cuCtxSynchronize", code)
      .good();
}

}  // namespace cufault::interpose

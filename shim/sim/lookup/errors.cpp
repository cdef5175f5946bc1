// SPDX-License-Identifier: Apache-2.0
// Entry points: names and descriptions of results.
#include <algorithm>

#include "core/call.h"
#include "lookup/results.h"

using namespace cufault::sim;

namespace {

const ResultText* find(CUresult code) {
  const auto texts = result_texts();
  const auto at = std::lower_bound(texts.begin(), texts.end(), code,
                                   [](const ResultText& text, CUresult wanted) { return text.code < wanted; });
  return at != texts.end() && at->code == code ? &*at : nullptr;
}

CUresult answer(const char* symbol, CUresult code, const char** out, const char* const ResultText::*which) {
  return api(symbol, kAnywhere, [&](Call& call) {
    if (out == nullptr) {
      call.misuse(CUFAULT_MISUSE_WOULD_CRASH, nullptr, "a null result");
      refuse(CUDA_ERROR_INVALID_VALUE);
    }
    const ResultText* text = find(code);
    *out = text == nullptr ? nullptr : text->*which;
    require(text != nullptr);
  });
}

}  // namespace

CUresult CUDAAPI cuGetErrorName(CUresult code, const char** name) { return answer(__func__, code, name, &ResultText::name); }

CUresult CUDAAPI cuGetErrorString(CUresult code, const char** text) {
  return answer(__func__, code, text, &ResultText::description);
}

// SPDX-License-Identifier: Apache-2.0
// Bytes as a plan: whatever they are, they are read or refused, and what was read can be used.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "cufault/api_table.h"
#include "faults/engine.h"
#include "../plan_builder.h"

using namespace cufault;

// The engine keeps its memory for the life of a process; here it is given back after each input (linked with --wrap).
namespace {
std::vector<std::pair<void *, std::size_t>> mappings;
bool keep_account = false;
}  // namespace
extern "C" void *__real_mmap64(void *, std::size_t, int, int, int, off_t);
extern "C" void *__wrap_mmap64(void *at, std::size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, std::size_t size, int protection, int flags, int file, off_t offset) {
  void *const got = __real_mmap64(at, size, protection, flags, file, offset);
  if (keep_account && got != MAP_FAILED) mappings.emplace_back(got, size);
  return got;
}

namespace {

// Something to begin with: a plan with a bit of everything.
std::string first_plan() {
  tests::plan_builder plan;
  plan.header.backend = CUFAULT_BACKEND_PATH;
  plan.header.backend_path = plan.string("/lib/driver.so");
  plan.header.run_folder = plan.string("/tmp");
  const std::uint32_t step = plan.step("use");
  const std::uint32_t handle = plan.handle("s", 4, step);
  for (std::uint32_t effect = CUFAULT_EFFECT_FAIL; effect <= CUFAULT_EFFECT_CALLBACK; ++effect) {
    const bool coded = effect <= CUFAULT_EFFECT_ASYNC;
    cufault_plan_rule rule = tests::plain_rule(effect, coded ? 700 : 0);
    if (effect == CUFAULT_EFFECT_FAIL) rule.step = step, rule.handle_name = handle, rule.compare = 1, rule.value = 7;
    if (effect == CUFAULT_EFFECT_STICKY) rule.handle_kind = 4, rule.handle_ordinal = 2, rule.unique_stack = 1, rule.after_rule = 1;
    if (effect == CUFAULT_EFFECT_DELAY) rule.delay_ns = 1;
    if (effect == CUFAULT_EFFECT_CALLBACK) rule.callback = plan.string("called");
    if (effect != CUFAULT_EFFECT_REAL_FAULT) plan.add(rule, {"cuStreamDestroy_v2", "cuCtxSetCurrent"});
  }
  return plan.bytes();
}

// The signature that a writer would have put there: with a wrong one nothing behind it would ever be looked at.
void sign(std::string &bytes) {
  if (bytes.size() < sizeof(cufault_plan_header)) return;
  cufault_plan_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(header.magic, CUFAULT_PLAN_MAGIC, sizeof header.magic);
  header.version = CUFAULT_PLAN_VERSION;
  header.header_size = sizeof header;
  header.file_size = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = faults::plan_checksum(bytes.data(), bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
}

void use(const faults::plan &plan) {
  // Every name that the shim would read, and every rule at some calls.
  std::size_t letters = std::strlen(plan.string(plan.header().backend_path)) + std::strlen(plan.string(plan.header().run_folder));
  for (std::uint32_t i = 0; i < plan.rule_count(); ++i) letters += std::strlen(plan.label(i));
  for (std::uint32_t i = 0; i < plan.step_count(); ++i) letters += std::strlen(plan.step_name(i));
  if (letters == 1) return; /* so that nobody leaves the reading out */
  const auto engine = std::make_unique<faults::engine>();
  keep_account = true;
  std::vector<cufault_control_rule> counters(plan.rule_count());
  const bool started = engine->start(plan, counters.data());
  keep_account = false;
  if (!started) return;
  faults::thread_state thread{};
  const std::uint64_t args[16] = {};
  for (std::uint32_t symbol = 0; symbol < api::symbol_count; symbol += 7) {
    const faults::call_facts call{symbol, args, false, nullptr, 1};
    if (engine->decide(call, thread).forwarded) engine->observe(call, thread, [](std::uint32_t, api::handle_kind, std::uint64_t) {});
  }
  for (const auto &[at, size] : mappings) ::munmap(at, size);
  mappings.clear();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size, std::size_t most, unsigned int seed);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size, std::size_t most, unsigned int seed) {
  static const std::string first = first_plan();
  if (size < sizeof(cufault_plan_header) && first.size() <= most) {
    std::memcpy(data, first.data(), first.size());
    return first.size();
  }
  // Half of the time one word of what is there, so that the file stays whole.
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::size_t at = seed / 8 % (size / 4) * 4;
  const std::uint32_t words[] = {0, 1, 2, 0xffffffffu, seed, static_cast<std::uint32_t>(size)};
  std::memcpy(data + at, &words[seed / 2 % 6], 4);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  for (const bool signed_too : {false, true}) {
    if (signed_too) sign(bytes);
    // On the heap and of exactly that size, aligned as pages are.
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);
    std::memcpy(exact.get(), bytes.data(), bytes.size());
    faults::plan plan;
    process::message why;
    if (plan.read(exact.get(), bytes.size(), why)) use(plan);
  }
  return 0;
}

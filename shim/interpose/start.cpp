// SPDX-License-Identifier: Apache-2.0
// From the first call to a shim in force: plan, driver, slots; and again in a forked child.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "call.h"
#include "control_page.h"
#include "cufault/api_table.h"
#include "lookups.h"
#include "plan_file.h"
#include "process/libc_2_28.h"
#include "process/memory.h"
#include "shim.h"
#include "sim_host.h"
#include "slots.h"
#include "threads.h"

namespace cufault::interpose {

constinit shim the_shim;

namespace {

constexpr std::int32_t not_initialized = 3;
constexpr std::int32_t no_device = 100;
constexpr std::int32_t not_found = 500;

// What stands in for a function that is not there. They take no argument, so they may be called with any.
std::int32_t answer_not_initialized() noexcept { return not_initialized; }
std::int32_t answer_no_device() noexcept { return no_device; }
std::int32_t answer_not_found() noexcept { return not_found; }

/*
 * Everything that may need the loader's lock is done before the shim's own is taken: a thread inside dlopen, running a
 * constructor that makes the first driver call, and a thread that starts the shim would wait for each other for ever.
 * So threads that arrive together each prepare, with equal results, and the first to come publishes.
 */
struct preparation {
  plan_file file;
  faults::plan plan;
  backend driver;
  void *functions[api::symbol_count];
};

void refuse_plan(const plan_file &file, const process::message &why) noexcept {
  process::message text;
  text << "the plan " << file.path.view() << " is refused: " << why.view();
  process::refuse(text.view());
}

void prepare(preparation &in) noexcept {
  process::message why;
  if (!read_plan_file(in.file, why)) refuse_plan(in.file, why);
  const bool planned = in.file.bytes != nullptr;
  if (planned && !in.plan.read(in.file.bytes, in.file.size, why)) refuse_plan(in.file, why);
  const bool named = planned && in.plan.header().backend != CUFAULT_BACKEND_REAL;
  const bool opened = named ? open_driver_at(in.plan.string(in.plan.header().backend_path), in.driver, why)
                            : open_real_driver(in.driver, why);
  if (!opened && planned) refuse_plan(in.file, why);
  if (!opened) {
    // Without the shim, opening libcuda.so.1 would have failed; callers that got this far understand this answer.
    why << "; every call answers CUDA_ERROR_NO_DEVICE";
    process::say(why.view());
  }
  if (opened) find_place(in.driver);
  for (std::uint32_t i = 0; i < api::symbol_count; ++i) {
    void *const function = opened ? ::dlsym(in.driver.handle, api::symbols[i].name) : nullptr;
    in.functions[i] = function != nullptr ? function
                                          : reinterpret_cast<void *>(opened ? &answer_not_found : &answer_no_device);
  }
}

const char *symbol_name(std::uint32_t index) noexcept { return api::symbols[index].name; }
const char *rule_label(std::uint32_t index, const void *plan) noexcept {
  return static_cast<const faults::plan *>(plan)->label(index);
}
bool is_known(const char *name) noexcept { return api::symbol_index(name) != api::symbol_count; }

std::uint32_t driver_version() noexcept {
  constexpr std::uint32_t symbol = api::symbol_index("cuDriverGetVersion");
  int version = 0;
  const auto ask = reinterpret_cast<std::int32_t (*)(int *)>(backend_functions[symbol]);
  return ask(&version) == 0 ? static_cast<std::uint32_t>(version) : 0;
}

void start_trace(std::uint32_t parent, bool forked) noexcept {
  const cufault_plan_header &header = the_shim.plan.header();
  if ((header.flags & CUFAULT_PLAN_TRACE) == 0) return;
  trace::process_facts facts;
  facts.api_hash = api::api_hash;
  facts.parent_pid = parent;
  facts.backend = header.backend;
  facts.driver_version = driver_version();
  facts.uncovered_count = count_uncovered(the_shim.driver, is_known);
  facts.forked = forked;
  facts.backend_path = the_shim.driver.file.view();
  facts.symbol_count = api::symbol_count;
  facts.symbol_name = symbol_name;
  facts.rule_count = the_shim.plan.rule_count();
  facts.rule_label = rule_label;
  facts.plan = &the_shim.plan;
  process::message why;
  if (!the_shim.trace.start(the_shim.plan.string(header.run_folder), header.trace_segment_records,
                            header.trace_segments_per_thread, facts, why))
    process::refuse(why.view());
  if ((header.flags & CUFAULT_PLAN_TRACE_STACKS) != 0 && !the_shim.stacks.start(the_shim.plan.string(header.run_folder), why))
    process::refuse(why.view());
}

cufault_control_rule *control_page() noexcept {
  process::message why;
  cufault_control_rule *const made = make_control_page(the_shim.plan, why);
  if (made == nullptr) process::refuse(why.view());
  return made;
}

void publish(const preparation &in) noexcept {
  the_shim.pid = static_cast<std::uint32_t>(::getpid());
  the_shim.driver = in.driver;
  the_shim.plan = in.plan;
  the_shim.planned = in.file.bytes != nullptr;
  for (std::uint32_t i = 0; i < api::symbol_count; ++i) backend_functions[i] = in.functions[i];
  if (the_shim.planned) {
    if (!the_shim.life.begin() || !the_shim.unwinder.start() || !the_shim.faults.start(the_shim.plan, control_page()))
      process::refuse("no memory for the plan's rules");
    if (the_shim.plan.header().backend == CUFAULT_BACKEND_SIMULATED) attach_simulator();
    remember_addresses(in.functions, reinterpret_cast<void *>(&answer_not_found));
    start_trace(static_cast<std::uint32_t>(::getppid()), false);
  }
  the_shim.started.store(true, std::memory_order_release);
  for (std::uint32_t i = 0; i < api::symbol_count; ++i)
    set_slot(i, the_shim.planned ? armed_wrappers[i] : backend_functions[i]);
}

__attribute__((tls_model("initial-exec"))) thread_local bool starting = false;

}  // namespace

void start() noexcept {
  if (the_shim.started.load(std::memory_order_acquire) || starting) return;
  const int saved_errno = errno;
  starting = true;
  void *const pages = process::map_pages(sizeof(preparation));
  if (pages == nullptr) process::refuse("no memory to start in");
  auto *const prepared = ::new (pages) preparation{};
  prepare(*prepared);
  {
    const process::hold held(the_shim.lock);
    if (!the_shim.started.load(std::memory_order_acquire)) publish(*prepared);
  }
  process::unmap_pages(pages, sizeof(preparation));
  starting = false;
  errno = saved_errno;
}

void *start_and_find(std::uint32_t symbol) noexcept {
  start();
  if (the_shim.started.load(std::memory_order_acquire)) return slot(symbol);
  // A driver library that calls back into itself, by its exported names, while it is being loaded.
  return reinterpret_cast<void *>(&answer_not_initialized);
}

void renew_after_fork() noexcept {
  const int saved_errno = errno;
  {
    const process::hold held(the_shim.lock);
    if (the_shim.life.same_process()) return;
    const std::uint32_t parent = the_shim.pid;
    the_shim.pid = static_cast<std::uint32_t>(::getpid());
    ++the_shim.generation;
    forget_threads();
    the_shim.faults.reset(control_page());
    start_trace(parent, true);
    the_shim.life.renew();
  }
  const std::uint32_t step = the_shim.faults.open_step();
  if (step != 0) write_step(this_thread(), CUFAULT_RECORD_STEP_BEGIN, step, step_name(step));
  errno = saved_errno;
}

std::uint64_t ask_current_context(std::uint64_t mirrored) noexcept {
  constexpr std::uint32_t symbol = api::symbol_index("cuCtxGetCurrent");
  const int saved_errno = errno;
  std::uint64_t context = 0;
  const auto ask = reinterpret_cast<std::int32_t (*)(std::uint64_t *)>(backend_functions[symbol]);
  const bool said = ask(&context) == 0;
  errno = saved_errno;
  return said ? context : mirrored;
}

}  // namespace cufault::interpose

// SPDX-License-Identifier: Apache-2.0
// Every way in which a program comes to the driver ends in the shim.
#include <gmock/gmock.h>

#include "program.h"

namespace cufault::tests {
namespace {

/* The shim fails each cuCtxSynchronize: whoever is answered 700 came through it. */
class Arrival : public ::testing::Test {
 protected:
  Arrival() {
    cufault_plan_rule rule = plain_rule();
    rule.limit = 0;
    run_.plan.add(rule, {"cuCtxSynchronize", "cuCtxSynchronize_v2"});
  }
  void expect_reached(const std::vector<std::string> &command) {
    const outcome out = run_.run(command);
    EXPECT_EQ(out.status, 0) << out.err;
    EXPECT_EQ(out.printed("by dlsym"), 700);
    EXPECT_EQ(out.printed("by cuGetProcAddress"), 700);
  }
  shim_run run_;
};

TEST_F(Arrival, ByDtNeeded) { EXPECT_EQ(run_.victim({"sync"}).printed("cuCtxSynchronize"), 700); }

TEST_F(Arrival, ByDlopenOfTheSoname) { expect_reached({from_environment("OPENER"), "local", "libcuda.so.1"}); }

TEST_F(Arrival, ByDlopenIntoTheGlobalScope) { expect_reached({from_environment("OPENER"), "lazy-global", "libcuda.so.1"}); }

TEST_F(Arrival, ByDlopenWithDeepBinding) { expect_reached({from_environment("OPENER"), "deepbind", "libcuda.so.1"}); }

TEST_F(Arrival, ByDlopenOfTheNameWithoutAVersion) {
  run_.under.variables["LD_LIBRARY_PATH"] = from_environment("SHIM_FOLDER");
  expect_reached({from_environment("OPENER"), "local", "libcuda.so"});
}

TEST_F(Arrival, ByDlopenFromALibraryWithARunpathToAnotherDriver) {
  expect_reached({from_environment("OPENER_WITH_RUNPATH"), "local", "libcuda.so.1"});
}

TEST_F(Arrival, ByTheLibraryPathWhereThePreloadIsGone) {
  run_.under.variables["LD_PRELOAD"] = from_environment("SANITIZER_RUNTIME");
  run_.under.variables["LD_LIBRARY_PATH"] = from_environment("SHIM_FOLDER");
  expect_reached({from_environment("OPENER"), "local", "libcuda.so.1"});
}

TEST_F(Arrival, ByAbsolutePathNeedsTheLoadersEar) {
  const std::string driver = from_environment("DRIVER_FOLDER") + "/libcuda.so.1";
  const outcome missed = run_.run({from_environment("OPENER"), "local", driver});
  EXPECT_EQ(missed.printed("by dlsym"), 0) << "a preload alone is passed by";
  EXPECT_TRUE(run_.trace().processes.empty()) << "and nothing pretends otherwise";
  run_.under.variables["LD_AUDIT"] = from_environment("AUDIT");
  expect_reached({from_environment("OPENER"), "local", driver});
  expect_reached({from_environment("OPENER"), "deepbind", driver});
}

TEST_F(Arrival, ByTheNameInANamespaceOfItsOwnNeedsTheLoadersEar) {
  run_.under.variables["LD_AUDIT"] = from_environment("AUDIT");
  expect_reached({from_environment("OPENER"), "namespace", "libcuda.so.1"});
}

TEST_F(Arrival, WithTheLoadersEarTheOrdinaryWaysStillArrive) {
  run_.under.variables["LD_AUDIT"] = from_environment("AUDIT");
  expect_reached({from_environment("OPENER"), "local", "libcuda.so.1"});
  EXPECT_EQ(run_.victim({"sync"}).printed("cuCtxSynchronize"), 700);
}

TEST_F(Arrival, ByCtypes) {
  run_.under.variables["ASAN_OPTIONS"] = "detect_leaks=0:protect_shadow_gap=0"; /* an interpreter keeps what it has to its end */
  const outcome out = run_.run({from_environment("PYTHON"), "-c",
                                "import ctypes; c = ctypes.CDLL('libcuda.so.1'); c.cuInit(0); print(f'sync={c.cuCtxSynchronize()}')"});
  EXPECT_EQ(out.printed("sync"), 700) << out.err;
}

}  // namespace
}  // namespace cufault::tests

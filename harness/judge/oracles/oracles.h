// SPDX-License-Identifier: Apache-2.0
// One oracle for each rule that can be judged: pure functions of a run, in a file each. README.md of the folder above
// says for every rule what exercises it, what violates it and what it cannot see.
#pragma once

#include "../finding.h"

namespace cufault::judge::oracles {

finding p01(const run& of);
finding p02(const run& of);
finding p03(const run& of);
finding p04(const run& of);
finding p05(const run& of);
finding p06(const run& of);
finding p07(const run& of);
finding p08(const run& of);
finding p09(const run& of);
finding p10(const run& of);
finding p11(const run& of);
finding p12(const run& of);
finding p13(const run& of);
finding p14(const run& of);
finding p15(const run& of);
finding p16(const run& of);
finding p17(const run& of);
finding p18(const run& of);
finding p20(const run& of);
finding p21(const run& of);
finding p22(const run& of);
finding p24(const run& of);
finding p25(const run& of);
finding p26(const run& of);
finding p29(const run& of);

// What several of them ask.

// The call ends an object, and makes none.
[[nodiscard]] bool ends_something(const event& call);
// cuCtxSetCurrent, cuCtxPushCurrent, cuCtxPopCurrent.
[[nodiscard]] bool switches_context(const event& call);
// cuGraphNodeSetParams, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, cuGraphEventRecordNodeSetEvent ...
[[nodiscard]] bool updates_node(const event& call);
// Until when an object of a raising step may be destroyed and still count as destroyed by it: the next step's begin,
// the interpreter's finalization, or for the last step of a program without one, the step's end.
[[nodiscard]] std::uint64_t end_of_handling(const run& of, std::size_t in_step);
// Objects that somebody has to end, made in that step, and alive after `end_of_handling`. Retentions of primary
// contexts are left out, since libraries keep them for the life of the process, and so are the owners of what an
// updated node uses: P18 asks for them to stay.
[[nodiscard]] std::vector<const object*> left_over(const run& of, std::size_t in_step);

// A failure that came after the one that is raised shows beside it, in the way that the profile asks for: a report, or
// a note of the exception. DEINITIALIZED may show nowhere.
void require_beside(const run& of, const failure& failed, finder& found);

}  // namespace cufault::judge::oracles

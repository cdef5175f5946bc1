// SPDX-License-Identifier: Apache-2.0
// The kernels that cases launch. Recorded answers count, name and measure what stands here: new kernels go into new programs.
#pragma once

namespace probe {

// Kernels that end well, with parameters, shared memory and launch bounds; a global and a constant.
inline const char* const PTX = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .b8 gvar[100];
.visible .global .align 8 .u64 gword = 5;
.visible .const .align 4 .u32 cvar = 7;
.visible .entry ok() { ret; }
.visible .entry ok2() { ret; }
.visible .entry args(.param .u64 a, .param .u32 b, .param .align 8 .b8 c[16], .param .u8 d) { ret; }
.visible .entry smem() { .shared .align 4 .b8 buf[1024]; .reg .b32 %r; mov.u32 %r, 1; st.volatile.shared.u32 [buf], %r; ret; }
.visible .entry max128() .maxntid 128, 1, 1 { ret; }
.visible .entry req64() .reqntid 64, 1, 1 { ret; }
.visible .entry store(.param .u64 p, .param .u32 v) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p]; ld.param.u32 %v, [v]; cvta.to.global.u64 %a, %a; st.global.u32 [%a], %v; ret; }
)";

// Kernels with thread block clusters.
inline const char* const PTX90 = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry fixed2() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry mustset() .explicitcluster { ret; }
)";

// Kernels that fault: a wild store, a misaligned one, a trap.
inline const char* const faulting_program = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry ok() { ret; }
.visible .entry oob() { .reg .b64 %a; .reg .b32 %v; mov.u64 %a, 64; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }
.visible .entry mis(.param .u64 p) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; add.u64 %a, %a, 1; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }
.visible .entry trp() { trap; ret; }
.visible .entry spin(.param .u64 n) { .reg .b64 %t, %e, %n; .reg .pred %p; ld.param.u64 %n, [n]; mov.u64 %t, %clock64; add.u64 %e, %t, %n; L: mov.u64 %t, %clock64; setp.lt.u64 %p, %t, %e; @%p bra L; ret; }
)";

}  // namespace probe

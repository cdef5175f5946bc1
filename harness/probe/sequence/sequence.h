// SPDX-License-Identifier: Apache-2.0
// Random sequences of driver calls, by seed. Recordings exist of many seeds: what a seed does never changes.
#pragma once

#include "core/case_list.h"

namespace probe {

// One case for each seed, "seqN". Handles are alive, null or of another context, never destroyed ones, because drivers end
// the process there; answers do not depend on time, because a query comes after a synchronisation.
void add_sequences(CaseList& list, unsigned first, unsigned last);

}  // namespace probe

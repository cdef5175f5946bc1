/* SPDX-License-Identifier: Apache-2.0 */
/* How the shim gives up: a message on stderr that names what and why, then exit status 97. */
#ifndef CUFAULT_PROCESS_REFUSE_H
#define CUFAULT_PROCESS_REFUSE_H

#include <unistd.h>

#include "cufault/plan_format.h"
#include "text.h"

namespace cufault::process {

using message = text<1024>;

/* One line on stderr, prefixed with who speaks. */
inline void say(std::string_view what) noexcept {
  text<1100> line;
  line << "cufault: " << what << "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::write(STDERR_FILENO, line.c_str() + done, line.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

/* A plan that cannot be honoured must never look like a run without faults: no driver call is answered any more. */
[[noreturn]] inline void refuse(std::string_view what) noexcept {
  say(what);
  ::_exit(CUFAULT_EXIT_PLAN_REFUSED);
}

}  // namespace cufault::process

#endif

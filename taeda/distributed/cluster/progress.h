// How far a process is, for whoever launched it.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::distributed {

/// Tells `taeda launch --monitor` that this process has done `step` steps and trained on `images`
/// examples, both counted from the start of the program; memory and time spent waiting for other
/// ranks go with it. Does nothing where no such launcher listens. Never waits.
void report_progress(int64_t step, int64_t images);

}  // namespace taeda::inline v0_2::distributed

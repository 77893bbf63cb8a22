// The time of the host in a prediction (sim_cost.h): a clock for each thread that stands still
// until something is queued or waited for.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2 {

/// Nanoseconds on the calling thread's clock; 0 as long as nothing is predicted.
int64_t host_clock();
/// Puts it on. Threads that work for another take its clock over, and it waits for the latest.
void set_host_clock(int64_t nanoseconds);

}  // namespace taeda

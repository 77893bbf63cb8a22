#include "taeda/device/host_clock.h"

namespace taeda::inline v0_2 {

namespace {
constinit thread_local int64_t clock_of_thread = 0;
}

int64_t host_clock() { return clock_of_thread; }
void set_host_clock(int64_t nanoseconds) { clock_of_thread = nanoseconds; }

}  // namespace taeda

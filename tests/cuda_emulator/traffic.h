// What kernels read and write in device memory, and how often they are launched.
//
// Note [How traffic is counted]
// Kernels are translated with -fsanitize=thread but linked to nothing of it: the compiler then
// calls a function before each access, and traffic.cpp defines those functions. So sources of
// kernels know nothing of this, and what is counted is what is left after the optimiser: a value
// kept in a register is read once. Bytes are those that threads ask for; an element that all
// threads of a warp read at once, one transaction on a GPU, counts for each of them. Shared memory
// is not device memory.
#pragma once

#include <cstdint>

namespace emulator {

struct Traffic {
  int64_t launches = 0, read = 0, written = 0;  // the last two in bytes
  int64_t longest = 0;                          // most accesses of one thread
};

/// What happens until `end_launch` is the work of `kernel`.
void begin_launch(const char* kernel);
void end_launch();
void begin_block();
/// A kernel that is not emulated, of another library: what it would read and write.
void add_traffic(const char* kernel, const Traffic& traffic);

}  // namespace emulator

// What tests find by dlsym, since the plug-in cannot be linked to.
extern "C" {
/// Begins to count, from nothing.
void emulator_start_counting();
/// Stops, and calls `each` for every kernel that ran.
void emulator_stop_counting(void (*each)(const char* kernel, const emulator::Traffic* traffic,
                                         void* context),
                            void* context);
}

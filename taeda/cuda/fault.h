// Errors that kernels find in their data (an index out of range). A kernel cannot throw: it leaves
// a note in host memory that the device can write, and the next call that waits for the device
// throws it. The device stays usable, unlike after a failed assertion on it.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::gpu {

enum class FaultKind : int64_t { None = 0, IndexInSelf, IndexInDim, Target };

/// The last fault of a device. Kernels write the fields first and the kind last.
struct Fault {
  int64_t kind;
  int64_t value, dim, size;
};

/// The device's note, which lives as long as the process.
Fault* fault_of(int device);
/// Throws IndexError if a kernel that is over has left a note, and clears it. `op` is the kernel,
/// if only one can have left it.
void report_fault(int device, const char* op = nullptr);

}  // namespace taeda::gpu

// Where device memory is, for what stands in for other libraries.
#pragma once

namespace emulator {

/// Runs `f` while device memory is accessible.
void with_device_memory(void (*f)(void*), void* context);
/// While it is accessible: whether `p` is such memory.
bool is_device_memory(const void* p);

}  // namespace emulator

// Threads that run replicas beside the caller.
#pragma once

#include <functional>
#include <vector>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::nn::parallel {

/// Calls `job(i)` for every device at the same time, `job(0)` on the calling thread and the others
/// on threads that are kept for later calls. In each, devices[i] is current, and the caller's state
/// (tensor/thread_state.h) holds otherwise. Returns when all have returned. Then the first
/// exception, by i, is thrown on: its type is kept, and an Error says "Caught <type> in replica i
/// on device <device>." behind its message (so do the most common standard exceptions; others have
/// no room for it).
void run_on_devices(const std::vector<Device>& devices, const std::function<void(size_t)>& job);

}  // namespace taeda::nn::parallel

// Memory behind reserved addresses, by the driver's functions for virtual memory.
#pragma once

#include "taeda/device/virtual_memory.h"

namespace taeda::inline v0_2::gpu {

/// Never null; its granularity is 0 where driver or device cannot do it.
VirtualMemory* cuda_virtual_memory();
/// Lets kernels and copies of `user` reach what is mapped on `owner`, now and later.
void share_virtual_memory(int owner, int user);

}  // namespace taeda::gpu

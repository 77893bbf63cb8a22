// The built-in backends' tables of contents. Each fills the slots it has kernels for.
#pragma once

#include "taeda/base/device.h"

namespace taeda::inline v0_2 {

/// cpu/register.cpp
void register_cpu_kernels();
/// sim/register.cpp: every slot that the CPU fills, behind the adapter that queues it; `as` is
/// kSim, or kCUDA where simulated devices answer to that name.
void register_sim_kernels(DeviceType as);
/// meta/register.cpp: every slot that the CPU fills, by a kernel that reads and writes nothing.
void register_meta_kernels();

}  // namespace taeda::inline v0_2

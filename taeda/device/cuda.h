// torch.cuda: NVIDIA GPUs, or simulated devices that answer to the name (TAEDA_SIM_AS_CUDA).
#pragma once

#include "taeda/device/accelerator.h"

namespace taeda::inline v0_2::cuda {

/// What the functions of this namespace are about.
constexpr DeviceType kType = kCUDA;
#include "taeda/device/accelerator_functions.inc"

}  // namespace taeda::cuda

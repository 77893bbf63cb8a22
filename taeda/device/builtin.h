// The backends that the registry can start by itself. Each is defined in its own room; this header
// is how the device room names them without including those rooms.
#pragma once

#include <string>

#include "taeda/device/backend.h"

namespace taeda::inline v0_2::builtin {

/// cpu/backend.cpp.
Backend* cpu_backend();
/// sim/backend.cpp: as many devices as TAEDA_SIM_DEVICES says; without it none where
/// TAEDA_SIM_AS_CUDA has made some. Throws ValueError when that or TAEDA_SIM_MEMORY cannot be
/// understood: a program that asks for devices must not go on without them.
Backend* sim_backend();
/// device/plugin.cpp: simulated devices under the name "cuda" when TAEDA_SIM_AS_CUDA is set, else
/// the plug-in libtaeda_cuda.so; null, with the reason, when there is neither.
Backend* cuda_backend(std::string* reason);
/// sim/backend.cpp: `devices` (the text of TAEDA_SIM_AS_CUDA) simulated devices that answer to
/// "cuda"; those of them that CUDA_VISIBLE_DEVICES lists, if that is set. Throws ValueError as
/// sim_backend.
Backend* sim_as_cuda_backend(const char* devices);

}  // namespace taeda::inline v0_2::builtin

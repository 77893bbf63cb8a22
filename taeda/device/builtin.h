// The backends that the registry can start by itself. Each is defined in its own room; this header
// is how the device room names them without including those rooms.
#pragma once

#include <string>

#include "taeda/device/backend.h"

namespace taeda::builtin {

/// cpu/backend.cpp.
Backend* cpu_backend();
/// sim/backend.cpp. Null, with the reason, when the configuration asks for no simulated devices.
Backend* sim_backend(std::string* reason);
/// device/plugin.cpp: simulated devices under the name "cuda" when TAEDA_SIM_AS_CUDA is set, else the
/// plug-in library beside this one; null, with the reason, when there is neither.
Backend* cuda_backend(std::string* reason);
/// sim/backend.cpp: the backend that answers to "cuda" with `devices` simulated devices.
Backend* sim_as_cuda_backend(int devices);

}  // namespace taeda::builtin

// What the two sources of the plug-in share.
#pragma once

#include <taeda/base/device.h>

namespace toy {

/// kernels.cpp: fills the slots that this device type has kernels for.
void register_kernels(taeda::DeviceType type);

}  // namespace toy

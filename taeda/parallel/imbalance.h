// Whether devices are alike enough to share a batch evenly.
#pragma once

#include <string>
#include <vector>

#include "taeda/device/backend.h"

namespace taeda::inline v0_2::nn::parallel {

/// PyTorch's warning if a device has less than 75% of the memory or the cores of another; empty if
/// none has. `properties[i]` are those of devices[i].
std::string imbalance_warning(const std::vector<Device>& devices,
                              const std::vector<DeviceProperties>& properties);

}  // namespace taeda::nn::parallel

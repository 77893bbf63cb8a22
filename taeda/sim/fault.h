// What happens when the host follows a device address.
#pragma once

#include <cstddef>
#include <optional>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::sim {

/// Addresses that belong to `device`. The first call installs the fault handler: a fault in a
/// watched range prints which device it belongs to, then goes to the handler that was installed
/// before, or ends the program as usual.
void watch_range(const void* base, size_t bytes, Device device);
void forget_range(const void* base);
/// Whose watched range the address lies in.
std::optional<Device> device_at(const void* address);

}  // namespace taeda::sim

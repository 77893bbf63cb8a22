// What programs ask of accelerators, once for all types; cuda.h and sim.h give it their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/device/allocator.h"
#include "taeda/device/graph.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2::accelerator {

/// Everywhere below, device index -1 is the calling thread's current device of the type.

/// All types but the CPU and meta that this process knows, the preferred one first
/// (base/device_types.h).
std::vector<DeviceType> types();
/// Every device of those types that can be used, in their order.
std::vector<Device> devices();
/// The type to take where a program names none, torch.accelerator.current_accelerator: the one with
/// devices that is preferred most. Simulated devices are never taken.
std::optional<DeviceType> preferred_type();

/// Whether the type has a backend and a device.
bool is_available(DeviceType type);
/// Why there are no devices; empty if there are.
std::string unavailable_reason(DeviceType type);
DeviceProperties get_device_properties(DeviceType type, int device);
/// Seeds the current device's default generator, or all of the type.
void manual_seed(DeviceType type, uint64_t seed);
void manual_seed_all(DeviceType type, uint64_t seed);
/// Free and total bytes.
struct MemoryInfo {
  size_t free, total;
};
MemoryInfo mem_get_info(DeviceType type, int device);
bool can_device_access_peer(DeviceType type, int device, int peer);
/// The device's index, -1 for the current one. Throws ValueError for a device of another type.
int index_of(DeviceType type, Device device);

}  // namespace taeda::inline v0_2::accelerator

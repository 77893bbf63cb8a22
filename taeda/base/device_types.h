// The types of devices that this process knows: the four that are built in, and those that
// plug-ins (device/plugin.h) or programs register. What differs between types and is not a matter
// of their backends stands here, so that nothing else lists types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "taeda/base/device.h"
#include "taeda/base/dtype.h"
#include "taeda/base/small_vector.h"

namespace taeda::inline v0_2 {

/// What a type of device is called, and what is chosen by it.
struct DeviceTypeInfo {
  /// "toy", for devices "toy", "toy:0", ...: small letters, digits and _, a letter first.
  const char* name;
  /// Begins the names of tensor types, as in "CUDAFloatType"; null for `name`.
  const char* title = nullptr;
  /// What autocast computes in unless it is told: float16 or bfloat16.
  ScalarType lower_precision = kHalf;
  /// Where a program names no accelerator (`pin_memory`, DataParallel of a module on the CPU), the
  /// type with the largest number that has devices is taken; one with 0 never is. CUDA has 10.
  int preference = 1;
};

/// Gives a type its number, for good. Strings are copied. Throws ValueError for a name that is
/// none or is taken, for another `lower_precision`, and when kDeviceTypes are known already.
DeviceType register_device_type(const DeviceTypeInfo& info);

/// What was registered for a type. Throws Error for a number that is none.
const DeviceTypeInfo& device_type_info(DeviceType type);
/// Every type that is known, the CPU first, then as they were registered.
SmallVector<DeviceType, kDeviceTypes> device_types();
/// The known type of that name; looks for no plug-in.
std::optional<DeviceType> find_device_type(std::string_view name);

namespace detail {

/// Whether a type could have that name.
bool is_device_type_name(std::string_view name);
/// "cpu, cuda, sim, meta".
std::string device_type_names();
/// device/plugin.cpp: looks for the plug-in of a type that is not known. Nothing, with the reason,
/// when there is none or it cannot be used; an empty reason for what could be no name.
std::optional<DeviceType> load_device_type(const std::string& name, std::string* reason);

}  // namespace detail

}  // namespace taeda::inline v0_2

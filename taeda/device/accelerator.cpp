#include "taeda/device/accelerator.h"

#include <algorithm>

#include "taeda/base/device_types.h"
#include "taeda/base/error.h"
#include "taeda/device/generator.h"

namespace taeda::inline v0_2::accelerator {

std::vector<DeviceType> types() {
  std::vector<DeviceType> out;
  for (const DeviceType type : device_types())
    if (Device(type).is_accelerator()) out.push_back(type);
  std::stable_sort(out.begin(), out.end(), [](DeviceType a, DeviceType b) {
    return device_type_info(a).preference > device_type_info(b).preference;
  });
  return out;
}

std::vector<Device> devices() {
  std::vector<Device> out;
  for (const DeviceType type : types())
    for (int i = 0; i < device_count(type); ++i) out.emplace_back(type, i);
  return out;
}

std::optional<DeviceType> preferred_type() {
  for (const DeviceType type : types())
    if (device_type_info(type).preference > 0 && find_backend(type)) return type;
  return {};
}

bool is_available(DeviceType type) { return find_backend(type) != nullptr; }

std::string unavailable_reason(DeviceType type) {
  std::string reason;
  find_backend(type, &reason);
  return reason;
}

DeviceProperties get_device_properties(DeviceType type, int device) {
  return backend_of(type).properties(resolve(Device(type, device)).index());
}

void manual_seed(DeviceType type, uint64_t seed) {
  default_generator(Device(type, current_device(type))).manual_seed(seed);
}

void manual_seed_all(DeviceType type, uint64_t seed) {
  for (int i = 0; i < device_count(type); ++i) default_generator(Device(type, i)).manual_seed(seed);
}

MemoryInfo mem_get_info(DeviceType type, int device) {
  MemoryInfo info{};
  backend_of(type).memory_info(resolve(Device(type, device)).index(), &info.free, &info.total);
  return info;
}

bool can_device_access_peer(DeviceType type, int device, int peer) {
  return backend_of(type).can_access_peer(resolve(Device(type, device)).index(),
                                          resolve(Device(type, peer)).index());
}

int index_of(DeviceType type, Device device) {
  TAEDA_CHECK_VALUE(device.type() == type, "Expected a ", to_string(type),
                    " device, but got: ", device);
  return device.index();
}

}  // namespace taeda::inline v0_2::accelerator

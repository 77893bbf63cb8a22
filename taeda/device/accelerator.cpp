#include "taeda/device/accelerator.h"

#include "taeda/device/generator.h"

namespace taeda::accelerator {

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

}  // namespace taeda::accelerator

#include "taeda/device/registry.h"

#include <atomic>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/device/builtin.h"
#include "taeda/device/plugin.h"

namespace taeda::inline v0_2 {

namespace {

/// Never destroyed: tensors may outlive static destruction.
struct Registry {
  std::atomic<Backend*> backend[kDeviceTypes] = {};
  std::atomic<bool> searched[kDeviceTypes] = {};
  std::recursive_mutex mutex;  // a plug-in may call set_backend while it is being loaded
  std::string reason[kDeviceTypes];
};

Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

constinit thread_local int8_t current_index[kDeviceTypes] = {};

Backend* search(DeviceType type, std::string* reason) {
  switch (type) {
    case kCPU: return builtin::cpu_backend();
    case kSim: return builtin::sim_backend();
    case kCUDA: return builtin::cuda_backend(reason);
    case kMeta: *reason = "it has shapes alone, no memory and no streams"; return nullptr;
    default: return detail::start_plugin(type, reason);
  }
}

/// Looks for the type's backend, once per process.
Backend* load(DeviceType type) {
  Registry& r = registry();
  const int t = static_cast<int>(type);
  std::lock_guard lock(r.mutex);
  if (!r.searched[t].load(std::memory_order_relaxed)) {
    if (!r.backend[t].load(std::memory_order_relaxed))
      if (Backend* found = search(type, &r.reason[t])) r.backend[t].store(found);
    r.searched[t].store(true, std::memory_order_release);
  }
  return r.backend[t].load(std::memory_order_relaxed);
}

}  // namespace

Backend* find_backend(DeviceType type, std::string* reason) {
  Registry& r = registry();
  const int t = static_cast<int>(type);
  Backend* backend = r.searched[t].load(std::memory_order_acquire)
                         ? r.backend[t].load(std::memory_order_acquire)
                         : load(type);
  if (backend && backend->device_count() > 0) [[likely]]
    return backend;
  if (reason) {
    std::lock_guard lock(r.mutex);
    *reason = backend ? backend->unavailable_reason() : r.reason[t];
  }
  return nullptr;
}

Backend& backend_of(DeviceType type) {
  if (Backend* backend = find_backend(type)) [[likely]]
    return *backend;
  std::string reason;
  find_backend(type, &reason);
  throw Error(detail::concat("no ", to_string(type), " device is available: ", reason));
}

void set_backend(DeviceType type, Backend* backend) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.backend[static_cast<int>(type)].store(backend, std::memory_order_release);
}

int device_count(DeviceType type) {
  const Backend* backend = find_backend(type);
  return backend ? backend->device_count() : 0;
}

int current_device(DeviceType type) { return current_index[static_cast<int>(type)]; }

void set_device(Device device) {
  if (!device.is_accelerator() || !device.has_index()) return;
  current_index[static_cast<int>(device.type())] = static_cast<int8_t>(resolve(device).index());
}

Device resolve(Device device) {
  const DeviceType type = device.type();
  if (!device.is_accelerator()) return Device(type);
  const int index = device.has_index() ? device.index() : current_device(type);
  const int count = backend_of(type).device_count();
  TAEDA_CHECK(index < count, "invalid device ordinal: ", Device(type, index),
              " was asked for, but there ",
              count == 1 ? "is 1 " : detail::concat("are ", count, " "), to_string(type),
              count == 1 ? " device" : " devices");
  return Device(type, index);
}

void synchronize(Device device) {
  const Device d = resolve(device);
  if (d.is_meta()) return;
  backend_of(d.type()).device_synchronize(d.is_cpu() ? 0 : d.index());
}

DeviceGuard::DeviceGuard(Device device)
    : type_(device.type()), previous_(taeda::current_device(device.type())) {
  set_device(device);
}

void DeviceGuard::reset_device(Device device) {
  TAEDA_CHECK(device.type() == type_, "DeviceGuard: cannot go from ", to_string(type_), " to ",
              device.str());
  set_device(device);
}

DeviceGuard::~DeviceGuard() {
  current_index[static_cast<int>(type_)] = static_cast<int8_t>(previous_);
}

}  // namespace taeda::inline v0_2

// Which backend serves a device type, and which device is current on this thread.
#pragma once

#include "taeda/device/backend.h"

namespace taeda::inline v0_2 {

/// The backend of a type. Throws Error, with the reason, when the type has no devices here.
Backend& backend_of(DeviceType type);
/// The backend, or nullptr when the type is unavailable. `reason` then says why.
Backend* find_backend(DeviceType type, std::string* reason = nullptr);
/// Makes `backend` serve its type: for backends that are part of a program. Those of plug-ins are
/// started by the registry.
void set_backend(DeviceType type, Backend* backend);

/// Devices of the type; 0 if unavailable.
int device_count(DeviceType type);
/// The calling thread's current device index of the type (0 until set).
int current_device(DeviceType type);
/// Throws Error ("invalid device ordinal ...") for an index that does not exist.
void set_device(Device device);
/// Fills in the current index of an accelerator, strips it from the CPU and meta, and checks that
/// the device exists.
Device resolve(Device device);
/// Waits until all work queued on the device is done.
void synchronize(Device device);

/// Makes `device` current for a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// The device that is current again when the scope ends.
  Device original_device() const { return {type_, previous_}; }
  Device current_device() const { return {type_, taeda::current_device(type_)}; }
  /// Makes another device current for the rest of the scope. Throws Error for another type.
  void reset_device(Device device);
  void set_index(int index) { reset_device({type_, index}); }

 private:
  DeviceType type_;
  int previous_;
};

}  // namespace taeda::inline v0_2

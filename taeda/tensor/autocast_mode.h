// Thread-local state of automatic mixed precision. It lives beside the tensor because operations
// consult it and the engine switches it off; amp/autocast.h has the guard that programs use,
// ops/autocast.h what operations do when it is on.
#pragma once

#include <cstdint>
#include <optional>

#include "taeda/base/device.h"
#include "taeda/base/dtype.h"
#include "taeda/tensor/interceptors.h"

namespace taeda::inline v0_2 {

class AutocastMode {
 public:
  /// All of a thread's state, to be handed to another thread.
  struct State {
    uint8_t devices = 0;  // one bit for each device type that is on
    static_assert(kDeviceTypes <= 8);
    bool cache = true;
    /// What a guard chose; else it is the device type's own.
    std::optional<ScalarType> dtypes[kDeviceTypes] = {};
  };

  /// Whether any device type is on.
  /// By default none is; its dtype is bfloat16 on the CPU and float16 elsewhere.
  static bool is_active() { return __builtin_expect(state_.devices != 0, 0); }
  static bool is_enabled(DeviceType type) { return state_.devices & bit(type); }
  static ScalarType dtype(DeviceType type) {
    const std::optional<ScalarType>& chosen = state_.dtypes[static_cast<int>(type)];
    return chosen ? *chosen : own_dtype(type);
  }
  static const State& state() { return state_; }
  static void set_state(const State& state) {
    state_ = state;
    switch_to(state.devices);
  }
  static constexpr uint8_t bit(DeviceType type) {
    return static_cast<uint8_t>(1u << static_cast<int>(type));
  }

  /// Switches it off for a scope: within an operation that has cast its inputs, and in backward
  /// passes, which follow the dtypes of forward.
  class Pause {
   public:
    Pause() : devices_(state_.devices) { switch_to(0); }
    ~Pause() { switch_to(devices_); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    uint8_t devices_;
  };

 private:
  static ScalarType own_dtype(DeviceType type);
  /// Operations ask no more than `Interceptors` while no device type is on.
  static void switch_to(uint8_t devices) {
    state_.devices = devices;
    Interceptors::set(Interceptors::kAutocast, devices != 0);
  }

  static constinit thread_local State state_ __attribute__((tls_model("initial-exec")));
};

}  // namespace taeda

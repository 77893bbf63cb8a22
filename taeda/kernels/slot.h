// A kernel slot: one operation's entry points, one per device type. Backends fill slots from their
// register.cpp; an operation calls the slot with the device its tensors are on.
#pragma once

#include <atomic>

#include "taeda/base/device.h"
#include "taeda/base/error.h"

namespace taeda {

template <class Signature>
class Slot;

namespace detail {
/// Makes the built-in backend of the type fill its slots; at most once, later calls return at once.
void load_kernels(DeviceType type);
}  // namespace detail

/// Arguments are passed on as they are. A kernel returns nothing: it writes into outputs that the
/// operation has allocated.
template <class... Args>
class Slot<void(Args...)> {
 public:
  using Function = void (*)(Args...);
  using Signature = void(Args...);

  constexpr explicit Slot(const char* name) : name_(name) {}
  Slot(const Slot&) = delete;

  const char* name() const { return name_; }
  void set(DeviceType type, Function f) {
    functions_[static_cast<int>(type)].store(f, std::memory_order_release);
  }
  /// The kernel, or nullptr.
  Function get(DeviceType type) const {
    const auto& f = functions_[static_cast<int>(type)];
    if (Function found = f.load(std::memory_order_acquire)) [[likely]]
      return found;
    detail::load_kernels(type);
    return f.load(std::memory_order_acquire);
  }

  /// Throws NotImplementedError, naming operation and device, if the backend has no such kernel.
  void operator()(DeviceType type, Args... args) const {
    const Function f = get(type);
    if (!f) [[unlikely]]
      missing(type);
    f(static_cast<Args>(args)...);
  }

 private:
  [[noreturn]] void missing(DeviceType type) const {
    throw NotImplementedError(detail::concat(
        "Could not run '", name_, "': there is no kernel for the '", to_string(type), "' backend"));
  }

  const char* name_;
  std::atomic<Function> functions_[kDeviceTypes] = {};
};

}  // namespace taeda

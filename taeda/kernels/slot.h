// A kernel slot: one operation's entry points, one per device type. Backends fill slots from their
// register.cpp; an operation calls the slot with the device its tensors are on.
#pragma once

#include <atomic>
#include <optional>
#include <type_traits>

#include "taeda/base/array_ref.h"
#include "taeda/base/device.h"
#include "taeda/base/error.h"
#include "taeda/base/tracing.h"

namespace taeda::inline v0_2 {

class Tensor;
class Iter;

template <class Signature>
class Slot;

namespace detail {
/// Makes the built-in backend of the type fill its slots; at most once, later calls return at once.
void load_kernels(DeviceType type);

// The shape of an argument, for records of the operation: "[32, 64], ".
void append_shape(std::string& out, const Tensor& t);
void append_shape(std::string& out, const Iter& it);
void append_shape(std::string& out, const std::optional<Tensor>& t);
void append_shape(std::string& out, ArrayRef<Tensor> list);
template <class T>
void append_shape(std::string&, const T&) {}
[[noreturn]] void throw_other_device(const char* kernel, size_t argument, Device expected,
                                     Device found);
/// Throws Error for the n-th argument of a kernel for devices of `type` if it is a tensor
/// elsewhere, or on another device than the tensors before it, the first of which is on `seen`, and
/// NotImplementedError for a sparse one.
template <class T>
void check_argument(const char* kernel, size_t n, DeviceType type, Device& seen, bool& any,
                    const T& argument) {
  const auto see = [&](const auto& t) {
    if (!t.defined()) return;
    if (!t.is_strided()) [[unlikely]]
      t.storage()->throw_without_memory();
    const Device device = t.device();
    if (!any && device.type() == type) {
      seen = device;
      any = true;
    } else if (!any || device != seen) {
      throw_other_device(kernel, n, any ? seen : Device(type), device);
    }
  };
  if constexpr (std::is_same_v<T, Tensor>) {
    see(argument);
  } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
    if (argument) see(*argument);
  } else if constexpr (std::is_same_v<T, ArrayRef<Tensor>>) {
    for (const auto& t : argument) see(t);
  }
}
/// Addresses reach kernels inside of types that know whose they are and how far they go.
template <class T>
constexpr bool kIsBareAddress =
    std::is_pointer_v<T> && !std::is_class_v<std::remove_cv_t<std::remove_pointer_t<T>>>;
template <class... Args>
void check_arguments(const char* kernel, DeviceType type, const Args&... args) {
  static_assert(!(kIsBareAddress<Args> || ...),
                "pass a Tensor, an Iter, a ParamList or Numbers instead of an address");
  [[maybe_unused]] Device seen;
  [[maybe_unused]] bool any = false;
  size_t n = 0;
  (check_argument(kernel, n++, type, seen, any, args), ...);
}

/// "[[32, 64], [64]]" from what `append_shape` wrote.
std::string close_shapes(std::string shapes);
}  // namespace detail

/// Arguments are passed on as they are. A kernel returns nothing: it writes into outputs that the
/// operation has allocated. Tensors are on the device that the kernel is for: a call with another
/// one is an Error.
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
    detail::check_arguments(name_, type, args...);
    if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
      return traced(f, static_cast<Args>(args)...);
    f(static_cast<Args>(args)...);
  }

 private:
  [[noreturn]] void missing(DeviceType type) const {
    throw NotImplementedError(detail::concat(
        "Could not run '", name_, "': there is no kernel for the '", to_string(type), "' backend"));
  }
  /// Apart, so that the way without a listener stays short.
  [[gnu::noinline, gnu::cold]] void traced(Function f, Args... args) const {
    tracing::Span span(tracing::Kind::Operation, name_);
    if (tracing::wants(tracing::kShapes) && !span.has_shapes()) {
      std::string shapes;
      (detail::append_shape(shapes, args), ...);
      span.set_shapes(detail::close_shapes(std::move(shapes)));
    }
    f(static_cast<Args>(args)...);
  }

  const char* name_;
  std::atomic<Function> functions_[kDeviceTypes] = {};
};

/// A slot and the kernel that fills it.
template <auto& slot, typename std::remove_reference_t<decltype(slot)>::Function kernel>
struct On {
  static void fill(DeviceType type) { slot.set(type, kernel); }
};
/// Fills slots of a device type: `fill_slots<On<cat_slot, cat_cpu>, ...>(kCPU)`.
template <class... Kernels>
void fill_slots(DeviceType type) {
  (Kernels::fill(type), ...);
}

/// Calls `f.operator()<&slot>()` for each of the slots.
template <auto*... slots, class F>
void visit_slots(F&& f) {
  (f.template operator()<slots>(), ...);
}

}  // namespace taeda::inline v0_2

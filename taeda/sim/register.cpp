// The simulated backend's kernels: for every slot that the CPU fills, an adapter that keeps the
// arguments, moves their addresses to where the device's bytes are, and queues the CPU's function
// on the current stream.
//
// What an argument becomes while it waits is decided by the overloads of `keep` (kernels/keep.h).
// Before, `check` asserts that every address in it is one of live memory of the kernel's device.
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/device/registry.h"
#include "taeda/device/stream.h"
#include "taeda/kernels/all.h"
#include "taeda/kernels/keep.h"
#include "taeda/kernels/registration.h"
#include "taeda/sim/addresses.h"
#include "taeda/sim/backend.h"
#include "taeda/sim/work.h"

namespace taeda::inline v0_2 {

namespace {

/// Which device a call is for, as far as one argument tells. CPU means that it does not.
template <class T>
Device device_of(const T& x) {
  if constexpr (std::same_as<T, Tensor>) {
    return x.defined() ? x.device() : Device(kCPU);
  } else if constexpr (std::same_as<T, TensorList> || std::same_as<T, std::optional<Tensor>>) {
    const Tensor* first = nullptr;
    if constexpr (std::same_as<T, TensorList>)
      first = x.empty() ? nullptr : &x.front();
    else
      first = x ? &*x : nullptr;
    return first ? device_of(*first) : Device(kCPU);
  } else if constexpr (requires {
                         { x.device() } -> std::convertible_to<Device>;
                       }) {
    return x.device();
  } else if constexpr (requires {
                         { x.device } -> std::convertible_to<Device>;
                       }) {
    return x.device;
  } else {
    return Device(kCPU);
  }
}

/// Throws Error for an address that the kernel must not follow.
template <class T>
void check(const sim::SimDevice& device, const char* kernel, size_t argument, const T& x) {
  const auto tensor = [&](const Tensor& t, int index) {
    if (t.defined()) sim::check_tensor(device, {kernel, argument, "tensor", index}, t);
  };
  if constexpr (std::same_as<T, Tensor>) {
    tensor(x, 0);
  } else if constexpr (std::same_as<T, std::optional<Tensor>>) {
    if (x) tensor(*x, 0);
  } else if constexpr (std::same_as<T, TensorList>) {
    for (size_t i = 0; i < x.size(); ++i) tensor(x[i], static_cast<int>(i));
  } else if constexpr (detail::Rebasable<T>) {
    x.for_each_extent([&](const char* part, int index, const void* p, int64_t bytes) {
      sim::check_device_memory(device, {kernel, argument, part, index}, p, bytes);
    });
  }
}

/// What becomes of an argument while it waits: its addresses are moved to where the bytes are.
template <class T>
auto keep_reachable(const T& x) {
  const Device device = device_of(x);
  return detail::keep(x, device.is_cpu() ? 0 : sim::sim_device(device).memory().alias_delta());
}

/// One body for all slots that take the same arguments, most of which are pointwise.
template <class... Args>
[[gnu::noinline]] void queue_kernel(DeviceType type, const Slot<void(Args...)>& slot,
                                    sim::FlopsOf<Args...> flops, Args... args) {
  Device device(kCPU);
  ((device = device.is_cpu() ? device_of(args) : device), ...);
  if (device.is_cpu()) device = Device(type, current_device(type));
  sim::SimDevice& sim_device = sim::sim_device(device);
  size_t argument = 0;
  (check<std::remove_cvref_t<Args>>(sim_device, slot.name(), argument++, args), ...);
  const StreamId stream = current_stream(device).id();
  constexpr bool kWrites = (detail::kWritesToCaller<Args> || ...);
  if constexpr (kWrites) sim_device.check_not_capturing(stream, slot.name());
  // First, because memory that is still on its way has the stream wait for it.
  detail::KeptCall<Args...> run{{keep_reachable(args)}..., slot.get(kCPU)};
  if (sim::Predictor::instance().on()) [[unlikely]]
    sim_device.charge(stream, sim::work_of<Args...>(flops, args...));
  if constexpr (kWrites)
    if (!sim_device.computes()) return run();  // sizes and choices that follow from shapes
  sim_device.launch(stream, std::make_unique<sim::KernelTask<decltype(run)>>(slot.name(), device,
                                                                             std::move(run)));
  if constexpr (kWrites) {
    sim_device.queue(stream).drain();
    sim::Predictor::instance().host_waits(device, stream);
    sim_device.report_error();
  }
}

template <auto* slot, DeviceType type, class Signature>
struct Adapter;
template <auto* slot, DeviceType type, class... Args>
struct Adapter<slot, type, void(Args...)> {
  static void run(Args... args) {
    queue_kernel<Args...>(type, *slot, sim::flops_of<slot, Args...>(), static_cast<Args>(args)...);
  }
};

template <DeviceType type>
void fill_slots() {
  for_each_slot([]<auto * slot>() {
    using Signature = typename std::remove_pointer_t<decltype(slot)>::Signature;
    if (slot->get(kCPU)) slot->set(type, Adapter<slot, type, Signature>::run);
  });
}

}  // namespace

void register_sim_kernels(DeviceType as) {
  if (as == kSim)
    fill_slots<kSim>();
  else
    fill_slots<kCUDA>();
  set_converts_operands(as);  // as the CPU's kernels do
}

}  // namespace taeda::inline v0_2

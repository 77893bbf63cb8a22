#include "taeda/cpu/capture.h"

#include <atomic>
#include <mutex>
#include <type_traits>

#include "taeda/device/host_graph.h"
#include "taeda/kernels/all.h"
#include "taeda/kernels/keep.h"

namespace taeda::inline v0_2::cpu {

namespace {

/// One body for all slots that take the same arguments: calls the kernel, or keeps the call for a
/// graph.
template <class... Args>
[[gnu::noinline]] void call_or_keep(const char* name, void (*f)(Args...), Args... args) {
  // What a kernel tells its caller - how much room a network takes - follows from shapes.
  if constexpr (!(detail::kWritesToCaller<Args> || ...)) {
    if (detail::HostGraph* const graph = detail::host_recording())
      return graph->add(name, detail::KeptCall<Args...>{{detail::keep(args, 0)}..., f});
  }
  f(static_cast<Args>(args)...);
}

template <auto* slot, class Signature>
struct Recorder;
template <auto* slot, class... Args>
struct Recorder<slot, void(Args...)> {
  using Function = void (*)(Args...);
  /// What the slot holds while no capture is under way. Stays, because calls that found the
  /// recorder in the slot may still be on their way.
  static inline constinit std::atomic<Function> kernel{nullptr};

  static void run(Args... args) {
    call_or_keep<Args...>(slot->name(), kernel.load(std::memory_order_acquire),
                          static_cast<Args>(args)...);
  }
};

constinit std::mutex mutex;
constinit int captures = 0;

}  // namespace

void record_kernels(bool on) {
  const std::lock_guard lock(mutex);
  if (on ? captures++ > 0 : --captures > 0) return;
  for_each_slot([on]<auto * slot>() {
    using R = Recorder<slot, typename std::remove_pointer_t<decltype(slot)>::Signature>;
    const auto f = slot->get(kCPU);
    if (!f) return;
    if (on) R::kernel.store(f, std::memory_order_release);
    slot->set(kCPU, on ? R::run : R::kernel.load(std::memory_order_acquire));
  });
}

}  // namespace taeda::inline v0_2::cpu

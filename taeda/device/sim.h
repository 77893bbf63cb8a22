// Simulated accelerators: how many there are, how large, and what goes wrong on them.
//
// Without configuration there are two devices of 2 GiB (TAEDA_SIM_DEVICES, TAEDA_SIM_MEMORY). They
// cost nothing until they are used. A `Device` below is a simulated one, under its own name or,
// with TAEDA_SIM_AS_CUDA, as "cuda:N".
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "taeda/device/accelerator.h"
#include "taeda/device/sim_cost.h"

namespace taeda::inline v0_2::sim {

/// What the functions of this namespace are about.
constexpr DeviceType kType = kSim;
#include "taeda/device/accelerator_functions.inc"

struct Options {
  size_t memory = 0;  ///< bytes per device; 0 for TAEDA_SIM_MEMORY, or 2 GiB
  /// Predict times with it. Without one that of TAEDA_SIM_COST (a name for `cost_model`), if set.
  std::optional<CostModel> cost = {};
  /// Whether kernels run. Without, they are checked, cost predicted time and take memory, but
  /// tensors have no values: a step of a network that is made for large devices then takes what
  /// queuing it takes, and none of the host's memory. Copying values to the host throws Error.
  bool compute = true;
};

/// Makes `devices` simulated devices. May be called again while none of them holds memory.
/// Throws ValueError unless 0 <= devices <= 64, Error while memory is in use.
void configure(int devices, const Options& options = {});

/// Queues `work` on the stream as a kernel called `name` (a string that stays). It runs on the
/// stream's thread and reaches device memory through `host_view`. What it throws is reported by the
/// next synchronisation or copy. It must not own tensors of the same device.
void launch(const taeda::Stream& stream, const char* name, std::function<void()> work);
/// Where a kernel finds the byte at a device address.
void* host_view(Device device, const void* address);
template <class T>
T* host_view(Device device, T* address) {
  return static_cast<T*>(host_view(device, static_cast<const void*>(address)));
}

/// Holds back what is queued behind it until `open`; opened at the latest when it is destroyed.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  /// Lets what waits for it go on.
  void open();

 private:
  friend void delay_stream(const taeda::Stream&, const Gate&);
  friend void delay_link(Device, Device, const Gate&);
  std::shared_ptr<class Ticket> ticket_;
};

/// Later work of the stream starts when the gate is open, or so many milliseconds later.
void delay_stream(const taeda::Stream& stream, const Gate& gate);
void delay_stream(const taeda::Stream& stream, double milliseconds);
/// Later copies from one device to the other start when the gate is open, or take so much longer.
void delay_link(Device from, Device to, const Gate& gate);
void delay_link(Device from, Device to, double milliseconds);
/// The n-th allocation on the device from now (1 is the next) throws OutOfMemoryError; once.
void fail_allocation(Device device, int64_t n);

}  // namespace taeda::inline v0_2::sim

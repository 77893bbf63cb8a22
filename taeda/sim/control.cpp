// The functions of device/sim.h that are about simulation only.
#include <chrono>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/sim/addresses.h"
#include "taeda/sim/backend.h"
#include "taeda/sim/predictor.h"

namespace taeda::inline v0_2::sim {

namespace {

std::chrono::nanoseconds from_ms(double milliseconds) {
  TAEDA_CHECK_VALUE(milliseconds >= 0, "a delay must not be negative, got ", milliseconds, " ms");
  return std::chrono::nanoseconds(static_cast<int64_t>(milliseconds * 1e6));
}

}  // namespace

SimDevice& sim_device(Device device) {
  const Device d = resolve(device);
  SimBackend* backend = backend_if_loaded(d.type());
  TAEDA_CHECK(backend, d, " is not a simulated device");
  return backend->at(d.index());
}

void configure(int devices, const Options& options) {
  TAEDA_CHECK_VALUE(devices >= 0 && devices <= SimBackend::kMaxDevices,
                    "sim::configure: expected 0 to ", SimBackend::kMaxDevices, " devices, got ",
                    devices);
  std::string reason;
  find_backend(kSim, &reason);
  SimBackend* backend = backend_if_loaded(kSim);
  TAEDA_CHECK(backend, reason);
  const std::optional<CostModel> cost = options.cost ? options.cost : default_cost_model();
  empty_cache();
  backend->configure(devices, options.memory ? options.memory : default_memory(),
                     options.compute);
  Predictor::instance().set_model(cost ? &*cost : nullptr);
}

void launch(const taeda::Stream& stream, const char* name, std::function<void()> work) {
  SimDevice& d = sim_device(stream.device());
  d.charge(stream.id(), Work{});
  d.launch(stream.id(),
           std::make_unique<KernelTask<std::function<void()>>>(name, d.device(), std::move(work)));
}

void* host_view(Device device, const void* address) {
  check_device_memory(sim_device(device), {"host_view", 1, "address"}, address, 1);
  return static_cast<char*>(const_cast<void*>(address)) + sim_device(device).memory().alias_delta();
}

Gate::Gate() : ticket_(std::make_shared<Ticket>()) {}

Gate::~Gate() { open(); }

void Gate::open() { ticket_->complete(); }

void delay_stream(const taeda::Stream& stream, const Gate& gate) {
  sim_device(stream.device()).queue(stream.id()).push_wait(gate.ticket_);
}

void delay_stream(const taeda::Stream& stream, double milliseconds) {
  SimDevice& d = sim_device(stream.device());
  const std::chrono::nanoseconds time = from_ms(milliseconds);
  Predictor::instance().delay(d.device(), stream.id(), time.count());
  d.queue(stream.id()).push_wait(nullptr, time);
}

void delay_link(Device from, Device to, const Gate& gate) {
  sim_device(from).set_link(sim_device(to).device().index(), {gate.ticket_, {}});
}

void delay_link(Device from, Device to, double milliseconds) {
  sim_device(from).set_link(sim_device(to).device().index(), {nullptr, from_ms(milliseconds)});
}

void fail_allocation(Device device, int64_t n) {
  TAEDA_CHECK_VALUE(n >= 1, "sim::fail_allocation: expected n >= 1, got ", n);
  allocator::fail_allocation(sim_device(device).device(), n);
}

}  // namespace taeda::sim

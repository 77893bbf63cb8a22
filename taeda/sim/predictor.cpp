#include "taeda/sim/predictor.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "taeda/device/host_clock.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2::sim {

namespace {

int64_t to_ns(double seconds) { return std::llround(seconds * 1e9); }

/// Seconds for an amount at a rate; a rate of 0 costs nothing.
double at_rate(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

}  // namespace

Predictor& Predictor::instance() {
  static auto* predictor = new Predictor;  // streams outlive static destruction
  return *predictor;
}

bool Predictor::Order::operator()(const Key& a, const Key& b) const {
  return std::tuple(a.first.type(), a.first.index(), a.second) <
         std::tuple(b.first.type(), b.first.index(), b.second);
}

void Predictor::set_model(const CostModel* model) {
  std::lock_guard lock(mutex_);
  if (model) model_ = *model;
  on_ = model != nullptr;
}

/// Moves the host on by one launch and returns when the work can begin.
int64_t Predictor::launch() {
  set_host_clock(host_clock() + to_ns(model_.launch_latency));
  return host_clock();
}

double Predictor::peak(ScalarType dtype) const {
  if (dtype == kHalf || dtype == kBFloat16) return model_.half;
  return dtype == kDouble || dtype == kComplexDouble ? model_.float64 : model_.float32;
}

/// When a kernel that can begin at `start` is over.
int64_t Predictor::run(Device device, int64_t start, const Work& work) {
  const int64_t duration =
      to_ns(std::max({at_rate(static_cast<double>(work.bytes), model_.memory_bandwidth),
                      at_rate(work.flops, peak(work.dtype)), model_.shortest_kernel}));
  PredictedUse& use = use_[{device, 0}];
  ++use.kernels;
  use.kernel_seconds += static_cast<double>(duration) * 1e-9;
  use.flops += work.flops;
  return start + duration;
}

void Predictor::kernel(Device device, StreamId stream, const Work& work) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  int64_t& clock = streams_[{device, stream}];
  clock = run(device, std::max(clock, launch()), work);
}

/// When the links that the copy needs are free; they are then busy until it ends.
int64_t Predictor::begin_copy(Device device, int64_t start, const Transfer& t, int64_t duration) {
  const auto links = [&](int index) -> Links& { return links_[{Device(device.type(), index), 0}]; };
  int64_t* sender = t.from < 0 ? &links(t.to).from_host
                    : t.to < 0 ? &links(t.from).to_host
                               : &links(t.from).sending;
  int64_t* receiver = t.from < 0 || t.to < 0 ? sender : &links(t.to).receiving;
  start = std::max({start, *sender, *receiver});
  *sender = *receiver = start + duration;
  return start;
}

/// When a copy that can begin at `start` is over.
int64_t Predictor::run(Device device, int64_t start, const Transfer& t) {
  if (t.from == t.to) return run(device, start, Work{.bytes = 2 * t.bytes});
  const bool with_host = t.from < 0 || t.to < 0;
  const double rate = !with_host ? model_.peer_bandwidth
                      : t.pinned ? model_.host_bandwidth
                                 : model_.pageable_bandwidth;
  const double latency = with_host ? model_.host_latency : model_.peer_latency;
  const int64_t duration =
      to_ns(latency + at_rate(static_cast<double>(t.bytes), rate)) + t.extra_delay;
  PredictedUse& use = use_[{device, 0}];
  ++use.copies;
  use.copied_bytes += t.bytes;
  use.copy_seconds += static_cast<double>(duration) * 1e-9;
  return begin_copy(device, start, t, duration) + duration;
}

void Predictor::copy(Device device, StreamId stream, const Transfer& t) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  int64_t& clock = streams_[{device, stream}];
  clock = run(device, std::max(clock, launch()), t);
  const bool with_host = t.from < 0 || t.to < 0;
  if (with_host && !t.pinned && !t.staged) host_waits_until(clock);
}

void Predictor::replay(Device device, StreamId stream, const std::vector<GraphPart>& parts) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  int64_t& clock = streams_[{device, stream}];
  const int64_t start = std::max(clock, launch());
  clock = start;
  std::map<const void*, int64_t> last;  // end of the last part, by stream
  std::vector<int64_t> ends;
  for (const GraphPart& part : parts) {
    int64_t& end = last.try_emplace(part.stream, start).first->second;
    for (size_t i : part.after) end = std::max(end, ends[i]);
    end = std::visit([&](const auto& cost) { return run(device, end, cost); }, part.cost);
    ends.push_back(end);
    clock = std::max(clock, end);
  }
}

void Predictor::delay(Device device, StreamId stream, int64_t nanoseconds) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  int64_t& clock = streams_[{device, stream}];
  clock = std::max(clock, host_clock()) + nanoseconds;
}

int64_t Predictor::time_of(Device device, StreamId stream) {
  if (!on()) return 0;
  std::lock_guard lock(mutex_);
  // An idle stream reaches an event when the host records it.
  int64_t& clock = streams_[{device, stream}];
  return clock = std::max(clock, host_clock());
}

void Predictor::stream_waits(Device device, StreamId stream, int64_t time) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  int64_t& clock = streams_[{device, stream}];
  clock = std::max(clock, time);
}

void Predictor::host_waits_until(int64_t time) const {
  if (on()) set_host_clock(std::max(host_clock(), time));
}

void Predictor::host_waits(Device device, StreamId stream) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  host_waits_until(streams_[{device, stream}]);
}

void Predictor::host_waits(Device device) {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  for (const auto& [key, clock] : streams_)
    if (key.first == device) host_waits_until(clock);
}

PredictedUse Predictor::use(Device device) {
  std::lock_guard lock(mutex_);
  return use_[{device, 0}];
}

double predicted_time() { return static_cast<double>(host_clock()) * 1e-9; }

PredictedUse predicted_use(Device device) { return Predictor::instance().use(resolve(device)); }

}  // namespace taeda::sim

// The clocks of Note [Predicted time] in device/sim_cost.h.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "taeda/base/dtype.h"
#include "taeda/device/backend.h"
#include "taeda/device/sim_cost.h"

namespace taeda::inline v0_2::sim {

/// What one kernel does, as far as it costs time.
struct Work {
  int64_t bytes = 0;
  double flops = 0;
  ScalarType dtype = kFloat;
};

/// A copy that is queued on a stream of one of its devices.
struct Transfer {
  int from, to;  ///< indices; -1 is the host
  int64_t bytes;
  bool pinned = false;      ///< the host's side is; else the host waits
  bool staged = false;      ///< so small that the host does not
  int64_t extra_delay = 0;  ///< nanoseconds that a test added to the link
};

/// What a stream does, as far as it costs time.
using Cost = std::variant<Work, Transfer>;

/// A part of a captured graph. It begins when the part before it on its stream is over, and those
/// in `after`, which are given by their numbers.
struct GraphPart {
  const void* stream;
  Cost cost;
  std::vector<size_t> after;
};

/// The clocks of all simulated devices, in nanoseconds. Methods do nothing, at the price of one
/// read, while there is no model.
class Predictor {
 public:
  static Predictor& instance();

  void set_model(const CostModel* model);
  bool on() const { return on_.load(std::memory_order_relaxed); }

  void kernel(Device device, StreamId stream, const Work& work);
  void copy(Device device, StreamId stream, const Transfer& transfer);
  /// Parts run side by side unless they wait for each other; the host launches once.
  void replay(Device device, StreamId stream, const std::vector<GraphPart>& parts);
  /// The stream does nothing for so long.
  void delay(Device device, StreamId stream, int64_t nanoseconds);
  /// Where the stream's clock is: what an event takes with it.
  int64_t time_of(Device device, StreamId stream);
  void stream_waits(Device device, StreamId stream, int64_t time);
  /// The calling thread waits for a time, a stream, or a whole device.
  void host_waits_until(int64_t time) const;
  void host_waits(Device device, StreamId stream);
  void host_waits(Device device);

  PredictedUse use(Device device);

 private:
  /// What one device has one of, busy until a time.
  struct Links {
    int64_t from_host = 0, to_host = 0, sending = 0, receiving = 0;
  };
  using Key = std::pair<Device, StreamId>;
  struct Order {
    bool operator()(const Key& a, const Key& b) const;
  };

  int64_t launch();
  int64_t run(Device device, int64_t start, const Work& work);
  int64_t run(Device device, int64_t start, const Transfer& transfer);
  int64_t begin_copy(Device device, int64_t start, const Transfer& transfer, int64_t duration);
  double peak(ScalarType dtype) const;

  std::atomic<bool> on_{false};
  std::mutex mutex_;
  CostModel model_;
  std::map<Key, int64_t, Order> streams_;
  std::map<Key, Links, Order> links_;  ///< the key's stream is 0
  std::map<Key, PredictedUse, Order> use_;
};

}  // namespace taeda::sim

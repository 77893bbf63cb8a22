// Graphs of a simulated device: the tasks that streams queued while they were captured, in the
// order in which the host queued them. A replay runs them in that order, one after the other: it is
// one of the orders that the events between the streams allow.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/base/device.h"
#include "taeda/sim/predictor.h"
#include "taeda/sim/queue.h"

namespace taeda::inline v0_2::sim {

/// Throws Error: "CUDA error: ..." for a device of that name.
[[noreturn]] void throw_capture_error(Device device, const std::string& text);

class Graph {
 public:
  Graph(std::vector<std::unique_ptr<Task>> tasks, std::vector<GraphPart> parts)
      : tasks_(std::move(tasks)), parts_(std::move(parts)) {}
  void run();
  /// What a replay costs; empty if there was no cost model during the capture.
  const std::vector<GraphPart>& parts() const { return parts_; }
  /// A chain of the kernels' names, in the language of Graphviz.
  void dump(const std::string& path) const;

 private:
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<GraphPart> parts_;
};

std::unique_ptr<Task> replay_task(std::shared_ptr<Graph> graph);

/// A capture that is under way, shared by the streams that take part in it.
class Recording {
 public:
  /// How many tasks of each stream are known to be over at some point.
  using Clock = std::map<const Queue*, size_t>;

  Recording(Device device, Queue& origin) : device_(device), origin_(&origin), streams_{&origin} {}

  void add(Queue& stream, std::unique_ptr<Task> task);
  /// What the next task of the stream costs.
  void charge(Queue& stream, const Cost& cost);
  /// The point that `stream` has reached.
  Clock clock(Queue& stream);
  /// The stream waits for a point; it takes part in the capture from then on. `self` is this.
  void wait(const std::shared_ptr<Recording>& self, Queue& stream, const Clock& point);
  /// Something was asked for that cannot be recorded: `end` will throw.
  void spoil();
  /// Ends the capture. Throws Error if it was spoilt, or if a stream has work that the origin does
  /// not wait for.
  std::shared_ptr<Graph> end(Queue& stream);

 private:
  const Device device_;
  Queue* const origin_;
  std::mutex mutex_;
  std::vector<Queue*> streams_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::map<const Queue*, Clock> clocks_;
  std::vector<GraphPart> parts_;
  std::map<const Queue*, std::map<size_t, size_t>> part_of_task_;  ///< by its number on the stream
  std::map<const Queue*, std::vector<size_t>> awaited_;            ///< by the next part
  bool spoilt_ = false;
  bool ended_ = false;
};

}  // namespace taeda::sim

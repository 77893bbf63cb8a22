#include "taeda/sim/graph.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"

namespace taeda::inline v0_2::sim {

void throw_capture_error(Device device, const std::string& text) {
  std::string name = to_string(device.type());
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c - 'a' + 'A'; });
  throw Error(detail::concat(name, " error: ", text));
}

void Graph::run() {
  for (const auto& task : tasks_) task->run();
}

void Graph::dump(const std::string& path) const {
  std::vector<const char*> names;
  for (const auto& task : tasks_) names.push_back(task->name());
  detail::write_chain(path, names);
}

std::unique_ptr<Task> replay_task(std::shared_ptr<Graph> graph) {
  struct Replay final : Task {
    explicit Replay(std::shared_ptr<Graph> g) : graph(std::move(g)) {}
    void run() override { graph->run(); }
    const char* name() const override { return "graph"; }
    std::shared_ptr<Graph> graph;
  };
  return std::make_unique<Replay>(std::move(graph));
}

void Recording::add(Queue& stream, std::unique_ptr<Task> task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  ++clocks_[&stream][&stream];
}

void Recording::charge(Queue& stream, const Cost& cost) {
  std::lock_guard lock(mutex_);
  part_of_task_[&stream][clocks_[&stream][&stream] + 1] = parts_.size();
  parts_.push_back({&stream, cost, std::exchange(awaited_[&stream], {})});
}

Recording::Clock Recording::clock(Queue& stream) {
  std::lock_guard lock(mutex_);
  return clocks_[&stream];
}

void Recording::wait(const std::shared_ptr<Recording>& self, Queue& stream, const Clock& point) {
  std::lock_guard lock(mutex_);
  if (ended_) throw_capture_error(device_, "dependency created on captured work of another graph");
  const auto other = stream.recording();
  if (other && other != self) {
    spoilt_ = true;
    throw_capture_error(device_, "operation would cause a merge of two independent captures");
  }
  if (!other) {
    streams_.push_back(&stream);
    stream.set_recording(self);
  }
  Clock& own = clocks_[&stream];
  for (const auto& [queue, count] : point) {
    own[queue] = std::max(own[queue], count);
    const auto& parts = part_of_task_[queue];
    const auto later = parts.upper_bound(count);
    if (queue != &stream && later != parts.begin())
      awaited_[&stream].push_back(std::prev(later)->second);
  }
}

void Recording::spoil() {
  std::lock_guard lock(mutex_);
  spoilt_ = true;
}

std::shared_ptr<Graph> Recording::end(Queue& stream) {
  std::lock_guard lock(mutex_);
  ended_ = true;
  for (Queue* q : streams_) q->set_recording(nullptr);
  if (spoilt_)
    throw_capture_error(device_, "operation failed due to a previous error during capture");
  if (&stream != origin_) throw_capture_error(device_, "invalid argument");
  Clock& known = clocks_[origin_];
  for (const Queue* q : streams_)
    if (known[q] < clocks_[q][q])
      throw_capture_error(device_, "capturing stream has unjoined work");
  return std::make_shared<Graph>(std::move(tasks_), std::move(parts_));
}

}  // namespace taeda::inline v0_2::sim

// What a step takes, and what it keeps. Not part of the public interface.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/device/stream.h"
#include "taeda/parallel/pipe/report.h"
#include "taeda/parallel/pipe/stage.h"

namespace taeda::inline v0_2::nn::detail {

/// How many micro-batches' activations or inputs are kept, and how many were at the same time.
struct Kept {
  int64_t now = 0, most = 0;
  void add(int64_t change) { most = std::max(most, now += change); }
};

/// Measures what stages do, with events on the streams that are current when a step begins.
class Meter {
 public:
  Meter(bool on, const std::vector<std::shared_ptr<Stage>>& stages);
  void start(size_t stage);
  void stop(size_t stage);
  /// The micro-batches that a stage keeps.
  Kept& kept(size_t stage) { return stages_[stage].kept; }
  void finish();
  /// Waits for the events.
  PipeReport report() const;

  PipeSchedule schedule = PipeSchedule::GPipe;
  size_t micro_batches = 0;
  bool backward = false;

 private:
  struct Times {
    Stream stream;
    size_t modules = 0;
    Event begin{true}, end{true};
    std::vector<std::pair<Event, Event>> busy;
    Kept kept;
  };
  bool on_;
  std::vector<Times> stages_;
};

}  // namespace taeda::nn::detail

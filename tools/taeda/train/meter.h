// Loss and accuracy of what a network gives, added up.
#pragma once

#include <chrono>
#include <functional>

#include "taeda/io/checkpoint.h"
#include "tools/taeda/train/ranks.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

/// Adds up loss and hits on the device: the program waits for it only when it asks for the score.
class Meter {
 public:
  explicit Meter(Device device);

  void add(const Tensor& loss, const Tensor& output, const Tensor& targets, bool count_hits);
  double seconds() const;
  /// Of the parts of all ranks.
  Score score(const Ranks& ranks) const;
  /// Of this rank's part.
  double loss() const { return loss_.item<double>() / static_cast<double>(count_); }
  int64_t count() const { return count_; }

  void save(io::Checkpoint& c) const;
  void load(const io::Checkpoint& c);
  /// What a rank that does not lead has otherwise than that.
  void save(RankState& s) const;
  void load(const RankState& s);

 private:
  Tensor loss_, hits_;
  int64_t count_ = 0;
  double before_ = 0;  ///< seconds in other processes
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Evaluation {
  const Task& task;
  Device device;
  bool amp = false;
  std::function<Tensor(const Tensor&)> forward;
  /// Called before each batch; optional. Ends the evaluation by throwing.
  std::function<void()> look = {};
};
/// Score of all that the loader has, and what was told of each example. The network must be in
/// evaluation mode.
Score evaluate(const Evaluation& what, Loader& loader, const Ranks& ranks,
               Predictions* predictions);

}  // namespace taeda::tool

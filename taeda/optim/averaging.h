// Averages of parameters over the steps of training, and the schedule that goes with them.
#pragma once

#include <functional>
#include <vector>

#include "taeda/optim/lr_scheduler.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// Averages of tensors, each of its tensor's shape: `average += weight * (value - average)` at each
/// update but the first, which takes the values as they are.
class AveragedParameters {
 public:
  /// A function that gives the weight of the next values, between 0 and 1, from how many updates
  /// there were.
  using Weight = std::function<double(int64_t updates)>;

  /// Averages in which all values weigh the same, the default: stochastic weight averaging
  /// (Izmailov et al. 2018, arXiv:1803.05407).
  explicit AveragedParameters(std::vector<Tensor> params);
  AveragedParameters(std::vector<Tensor> params, Weight weight);
  /// Exponential moving averages. Throws ValueError unless decay is in [0, 1].
  static AveragedParameters ema(std::vector<Tensor> params, double decay = 0.999);

  /// Takes the parameters' present values into the average; shapes must be those of before.
  void update();
  /// Makes the averages the parameters' values, element by element; swap() keeps those in the
  /// averages' place, so that a second call brings them back.
  void copy_to_params() const;
  void swap();
  const std::vector<Tensor>& averages() const { return averages_; }
  int64_t updates() const { return updates_; }

  /// The averages by name, "average.0" and so on, and the number of updates, 0-dim.
  OptimizerState state_dict() const;
  /// Throws ValueError, and changes nothing, for other tensors than there are.
  void load_state_dict(const OptimizerState& state);

 private:
  std::vector<Tensor> params_, averages_;
  Weight weight_;
  int64_t updates_ = 0;
};

/// A schedule from the rate of the first step to `swa_lr` in `anneal_epochs` epochs, 10 by default,
/// by cosine or linearly, and constant from then on (torch.optim.swa_utils.SWALR).
class SWALR final : public LRScheduler {
 public:
  SWALR(Optimizer& optimizer, double swa_lr, int64_t anneal_epochs = 10, bool cosine = true);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  double swa_lr_;
  int64_t anneal_epochs_;
  bool cosine_;
};

}  // namespace taeda::optim

// Which learning rate to train with: a few steps at rates from small to large, and where the loss
// falls fastest.
//
//     const training::RateTrial trial = training::find_rate(net, optimizer, [&] {
//       const auto batch = next_batch();
//       return criterion(net(batch.data), batch.target);
//     });
//     if (trial.suggestion) optimizer.param_groups()[0].set_lr(*trial.suggestion);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::training {

struct RateFinderOptions {
  /// the least and the largest rate; from step to step it grows by a constant factor
  double lowest = 1e-7, highest = 10;
  int64_t steps = 200;
  /// How much of the running mean of losses stays from step to step, at least 0 and below 1.
  double smoothing = 0.9;
  /// The trial ends where the mean is so many times its lowest value, 4 by default, or not finite.
  double diverged = 4;
};

/// What a trial saw: rates and losses of the same size.
struct RateTrial {
  std::vector<double> rates;   ///< the rate of each step; not empty
  std::vector<double> losses;  ///< the smoothed losses, of the same size
  /// Where the loss falls fastest over the logarithm of the rate, before its lowest value; two
  /// digits. None where it falls nowhere.
  std::optional<double> suggestion;
};

/// Takes steps at rising rates, after L. N. Smith, "Cyclical learning rates for training neural
/// networks", 2017. `loss` gives the loss of the next batch; an undefined tensor ends the trial.
/// Model, optimizer and its rates are afterwards what they were before, also when `loss` throws;
/// only random numbers have been drawn. Throws ValueError for options that make no sense.
RateTrial find_rate(nn::Module& model, optim::Optimizer& optimizer,
                    const std::function<Tensor()>& loss, const RateFinderOptions& options = {});
template <class Contained>
RateTrial find_rate(nn::ModuleHolder<Contained>& model, optim::Optimizer& optimizer,
                    const std::function<Tensor()>& loss, const RateFinderOptions& options = {}) {
  return find_rate(*model, optimizer, loss, options);
}

}  // namespace taeda::inline v0_2::training

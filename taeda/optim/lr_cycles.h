// Further schedules of learning rates: constant factors, polynomials, cycles and restarts.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "taeda/optim/lr_scheduler.h"

namespace taeda::inline v0_2::optim {

/// base times `factor` until epoch `total_iters`.
class ConstantLR final : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  double factor_;
  int64_t total_;
};

/// base * (1 - epoch / total_iters)^power, and 0 from then on.
class PolynomialLR final : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  int64_t total_;
  double power_;
};

/// Times a function of the epoch, every epoch; one function for all groups or one for each.
class MultiplicativeLR final : public LRScheduler {
 public:
  using Function = std::function<double(int64_t epoch)>;
  MultiplicativeLR(Optimizer& optimizer, Function f);
  MultiplicativeLR(Optimizer& optimizer, std::vector<Function> functions);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  std::vector<Function> functions_;
};

/// Cosine annealing to eta_min that starts again after t_0 epochs, then after t_mult times as many,
/// ... (Loshchilov and Hutter 2017).
class CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                              double eta_min = 0);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  int64_t t_0_, t_mult_;
  double eta_min_;
};

/// Of CyclicLR.
struct CyclicLROptions {
  /// All cycles the same height, half of the one before, or times gamma each step.
  enum Mode { triangular, triangular2, exp_range };
  /// The smallest rate.
  Option<PerGroup> base_lr;
  /// The largest one.
  Option<PerGroup> max_lr;
  /// In how many steps the rate grows, at least 1.
  Option<int64_t> step_size_up = 2000;
  /// In how many it falls, at least 1; as many as up unless given.
  Option<std::optional<int64_t>> step_size_down = std::nullopt;
  /// How the height of cycles changes.
  Option<Mode> mode = triangular;
  /// Of exp_range: what heights are multiplied by in a step.
  Option<double> gamma = 1;
  /// Whether momentum (or beta1) goes the other way.
  Option<bool> cycle_momentum = true;
  /// The smallest momentum.
  Option<double> base_momentum = 0.8;
  /// The largest one.
  Option<double> max_momentum = 0.9;
};

/// Up and down between two rates in straight lines, while momentum (or beta1) goes the other way
/// (Smith 2017). Steps are batches, not epochs.
class CyclicLR final : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicLROptions options);
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr)
      : CyclicLR(optimizer, CyclicLROptions{base_lr, max_lr}) {}

 private:
  double rate(size_t group, double base, double current, int64_t step) override;
  double height(int64_t step) const;
  CyclicLROptions options_;
};

}  // namespace taeda::inline v0_2::optim

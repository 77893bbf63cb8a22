// Further schedules of learning rates: constant factors, polynomials, cycles and restarts.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "taeda/optim/lr_scheduler.h"

namespace taeda::inline v0_2::optim {

/// A schedule: the base rate times `factor`, 1/3 by default, until epoch `total_iters`, 5 by
/// default, and the base rate from then on.
class ConstantLR final : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  double factor_;
  int64_t total_;
};

/// A schedule: base * (1 - epoch / total_iters)^power, by default linear in 5 epochs, and 0 from
/// then on.
class PolynomialLR final : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  int64_t total_;
  double power_;
};

/// A schedule that multiplies the rate by a function of the epoch, every epoch; the list of
/// functions has one for each group, else Error, or one for all.
class MultiplicativeLR final : public LRScheduler {
 public:
  using Function = std::function<double(int64_t epoch)>;
  MultiplicativeLR(Optimizer& optimizer, Function f);
  MultiplicativeLR(Optimizer& optimizer, std::vector<Function> functions);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  std::vector<Function> functions_;
};

/// Cosine annealing to eta_min, 0 by default, that starts again after t_0 epochs, then after t_mult
/// times as many, and so on (Loshchilov and Hutter 2017, arXiv:1608.03983).
class CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                              double eta_min = 0);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  int64_t t_0_, t_mult_;
  double eta_min_;
};

/// Options of CyclicLR, whose rates go up and down between two limits; steps are batches by
/// default.
struct CyclicLROptions {
  /// The height of cycles: the same for all, the default, half of the one before, or times gamma in
  /// each step.
  enum Mode { triangular, triangular2, exp_range };
  /// The least rate, at which cycles begin; one number, or one for each group.
  Option<PerGroup> base_lr;
  /// The largest momentum, at the least rate; 0.95 by default.
  Option<PerGroup> max_lr;
  /// In how many steps the rate grows, at least 1.
  Option<int64_t> step_size_up = 2000;
  /// In how many it falls, at least 1; as many as up unless given.
  Option<std::optional<int64_t>> step_size_down = std::nullopt;
  /// How the height of cycles changes; by default it stays.
  Option<Mode> mode = triangular;
  /// The factor of heights in a step, for the mode exp_range; 1 by default.
  Option<double> gamma = 1;
  /// Whether momentum, or beta1, goes the other way; true by default.
  Option<bool> cycle_momentum = true;
  /// The least momentum, at the largest rate; one number, or one for each group.
  Option<double> base_momentum = 0.8;
  /// The largest momentum, at the least rate; 0.95 by default.
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

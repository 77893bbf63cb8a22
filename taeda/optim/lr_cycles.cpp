#include "taeda/optim/lr_cycles.h"

#include <cmath>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/optim/rates.h"
#include "taeda/optim/scheduler_checks.h"

namespace taeda::inline v0_2::optim {

namespace {

using detail::for_group;

void check_one_per_group(const char* name, size_t given, const Optimizer& optimizer) {
  TAEDA_CHECK_VALUE(given == 1 || given == optimizer.param_groups().size(), name,
                    " must have the same length as optimizer.param_groups. ", name, " has ", given,
                    " values, param_groups has ", optimizer.param_groups().size(), ".");
}

}  // namespace

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : LRScheduler(optimizer), factor_(factor), total_(total_iters) {
  TAEDA_CHECK_VALUE(factor >= 0 && factor <= 1,
                    "Constant multiplicative factor expected to be between 0 and 1, got ", factor);
  TAEDA_CHECK_VALUE(total_iters > 0, "Expected positive integer total_iters, but got ",
                    total_iters);
  begin();
}

double ConstantLR::rate(size_t, double, double current, int64_t epoch) {
  return current *
         rates::constant_change(static_cast<double>(epoch), factor_, static_cast<double>(total_));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : LRScheduler(optimizer), total_(total_iters), power_(detail::checked_number("power", power)) {
  TAEDA_CHECK_VALUE(total_iters > 0, "Expected positive integer total_iters, but got ",
                    total_iters);
  begin();
}

double PolynomialLR::rate(size_t, double, double current, int64_t epoch) {
  return current *
         rates::polynomial_change(static_cast<double>(epoch), static_cast<double>(total_), power_);
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Function f)
    : MultiplicativeLR(optimizer, std::vector<Function>{std::move(f)}) {}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<Function> functions)
    : LRScheduler(optimizer), functions_(std::move(functions)) {
  detail::check_functions(functions_, optimizer.param_groups().size());
  begin();
}

double MultiplicativeLR::rate(size_t group, double, double current, int64_t epoch) {
  if (epoch == 0) return current;
  return current * for_group(functions_, group)(epoch);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0,
                                                         int64_t t_mult, double eta_min)
    : LRScheduler(optimizer),
      t_0_(t_0),
      t_mult_(t_mult),
      eta_min_(detail::checked_number("eta_min", eta_min)) {
  TAEDA_CHECK_VALUE(t_0 > 0, "Expected positive integer T_0, but got ", t_0);
  TAEDA_CHECK_VALUE(t_mult >= 1, "Expected integer T_mult >= 1, but got ", t_mult);
  begin();
}

double CosineAnnealingWarmRestarts::rate(size_t, double base, double, int64_t epoch) {
  const auto [at, length] = rates::restarted(epoch, t_0_, t_mult_);
  return rates::cosine_rate(base, eta_min_, static_cast<double>(at), static_cast<double>(length));
}

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicLROptions options)
    : LRScheduler(optimizer), options_(std::move(options)) {
  const CyclicLROptions& o = options_;
  TAEDA_CHECK_VALUE(o.step_size_up() > 0, "Expected positive integer step_size_up, but got ",
                    o.step_size_up());
  TAEDA_CHECK_VALUE(o.step_size_down().value_or(1) > 0,
                    "Expected positive integer step_size_down, but got ", *o.step_size_down());
  check_one_per_group("base_lr", o.base_lr().size(), optimizer);
  check_one_per_group("max_lr", o.max_lr().size(), optimizer);
  for (const double lr : o.base_lr()) detail::checked_number("base_lr", lr);
  for (const double lr : o.max_lr()) detail::checked_number("max_lr", lr);
  detail::checked_number("gamma", o.gamma());
  detail::checked_number("base_momentum", o.base_momentum());
  detail::checked_number("max_momentum", o.max_momentum());
  auto& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    TAEDA_CHECK_VALUE(
        !o.cycle_momentum() || groups[i].options().momentum_like(),
        "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
    groups[i].set_initial_lr(for_group(o.base_lr(), i));
  }
  begin();
}

/// How high the rate stands between both at this step: 1 is the maximal rate.
double CyclicLR::height(int64_t step) const {
  const auto up = static_cast<double>(options_.step_size_up());
  const auto down =
      static_cast<double>(options_.step_size_down().value_or(options_.step_size_up()));
  const auto [cycle, slope] = rates::cycle(static_cast<double>(step), up, down);
  const bool by_step = options_.mode() == CyclicLROptions::exp_range;
  return slope * rates::peak(static_cast<rates::Peaks>(options_.mode()),
                             by_step ? static_cast<double>(step) : cycle, options_.gamma());
}

double CyclicLR::rate(size_t group, double, double, int64_t step) {
  const double part = height(step);
  if (options_.cycle_momentum())
    *optimizer().param_groups()[group].options().momentum_like() =
        rates::cycled(options_.max_momentum(), options_.base_momentum(), part, 1);
  return rates::cycled(for_group(options_.base_lr(), group), for_group(options_.max_lr(), group),
                       part, 1);
}

}  // namespace taeda::inline v0_2::optim

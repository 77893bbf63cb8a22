// Losses of a small network under every optimizer, rates of schedules and averages, against
// PyTorch's numbers (tests/golden/optim_curves.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/optim/golden.h"

namespace taeda::optim {
namespace {

Tensor waves(int64_t rows, int64_t columns, double a, double b) {
  Tensor t = empty({rows, columns}, kDouble);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      t.data_ptr<double>()[i * columns + j] =
          std::sin(a * static_cast<double>(i) + b * static_cast<double>(j) + 0.3);
  return t;
}

/// Three parameters, and their loss.
struct Problem {
  Tensor x = waves(8, 4, 0.7, 1.3), y = waves(8, 2, 1.1, 0.4);
  std::vector<Tensor> params = {waves(3, 4, 0.9, 2.1), waves(1, 3, 1, 0.8)[0],
                                waves(2, 3, 1.7, 0.6)};

  Problem() {
    for (Tensor& p : params) p.requires_grad_();
  }
  Tensor loss() const {
    const Tensor hidden = tanh(matmul(x, params[0].t()) + params[1]);
    return (matmul(hidden, params[2].t()) - y).square().mean();
  }
  std::vector<Tensor> matrices() const { return {params[0], params[2]}; }
};

std::vector<double> losses_of(const Problem& problem, Optimizer& optimizer, size_t steps) {
  std::vector<double> losses;
  for (size_t i = 0; i < steps; ++i)
    losses.push_back(optimizer
                         .step([&] {
                           optimizer.zero_grad();
                           Tensor loss = problem.loss();
                           loss.backward();
                           return loss;
                         })
                         .item<double>());
  losses.push_back(problem.loss().item<double>());
  return losses;
}

MATCHER_P(NearlyEqual, tolerance, "") {
  const double got = std::get<0>(arg), wanted = std::get<1>(arg);
  return std::abs(got - wanted) <= tolerance * (std::abs(wanted) + 1e-3);
}

template <class O, class Options>
void expect_losses(const char* name, const Options& options, double tolerance = 1e-9) {
  const Problem problem;
  O optimizer(problem.params, options);
  const auto& golden = golden_curves.at(name);
  EXPECT_THAT(losses_of(problem, optimizer, golden.size() - 1),
              testing::Pointwise(NearlyEqual(tolerance), golden))
      << name;
}

TEST(Curves, OfOptimizersWithKernels) {
  expect_losses<SGD>("sgd", SGDOptions(0.1).momentum(0.9).nesterov(true));
  expect_losses<Adam>("adam", AdamOptions(0.05));
  expect_losses<AdamW>("adamw", AdamWOptions(0.05).weight_decay(0.1));
  expect_losses<RMSprop>("rmsprop", RMSpropOptions(0.02).centered(true).momentum(0.5));
  expect_losses<Adagrad>("adagrad", AdagradOptions(0.1));
}

TEST(Curves, OfAdaptiveOptimizers) {
  expect_losses<Adadelta>("adadelta", AdadeltaOptions());
  expect_losses<Adadelta>(
      "adadelta_all", AdadeltaOptions(0.5).rho(0.8).eps(1e-4).weight_decay(0.05).maximize(true));
  expect_losses<Rprop>("rprop", RpropOptions());
  expect_losses<Rprop>("rprop_all", RpropOptions(0.05).etas({0.4, 1.5}).step_sizes({0.02, 0.1}));
  expect_losses<ASGD>("asgd", ASGDOptions(0.1));
  expect_losses<ASGD>("asgd_all", ASGDOptions(0.1).lambd(0.05).alpha(0.5).t0(5).weight_decay(0.01));
}

TEST(Curves, OfRelativesOfAdam) {
  expect_losses<Adamax>("adamax", AdamaxOptions(0.02));
  expect_losses<Adamax>("adamax_decay",
                        AdamaxOptions(0.02).betas({0.8, 0.9}).eps(1e-6).weight_decay(0.1));
  expect_losses<NAdam>("nadam", NAdamOptions(0.02));
  expect_losses<NAdam>("nadam_decay", NAdamOptions(0.02).weight_decay(0.1).momentum_decay(0.01));
  expect_losses<NAdam>("nadam_decoupled",
                       NAdamOptions(0.02).weight_decay(0.1).decoupled_weight_decay(true));
  expect_losses<RAdam>("radam", RAdamOptions(0.05));
  expect_losses<RAdam>("radam_decay", RAdamOptions(0.05).betas({0.8, 0.9}).weight_decay(0.1));
  expect_losses<RAdam>("radam_decoupled",
                       RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true));
}

TEST(Curves, OfAdafactorLionAndAdEMAMix) {
  expect_losses<Adafactor>("adafactor", AdafactorOptions(0.1));
  expect_losses<Adafactor>(
      "adafactor_all",
      AdafactorOptions(0.2).beta2_decay(-0.5).eps({1e-3, 0.2}).d(1.5).weight_decay(0.1));
  expect_losses<Lion>("lion", LionOptions(0.02));
  expect_losses<AdEMAMix>("ademamix", AdEMAMixOptions(0.02));
  expect_losses<AdEMAMix>("ademamix_all", AdEMAMixOptions(0.02)
                                              .betas({0.8, 0.9, 0.95})
                                              .alpha(2)
                                              .beta3_warmup(10)
                                              .alpha_warmup(15)
                                              .eps(1e-6)
                                              .weight_decay(0.1));
  expect_losses<Lion>("lion_decay", LionOptions(0.02).betas({0.7, 0.9}).weight_decay(0.3));
}

TEST(Curves, OfLbfgs) {
  expect_losses<LBFGS>("lbfgs", LBFGSOptions().max_iter(3));
  expect_losses<LBFGS>("lbfgs_history", LBFGSOptions(0.5).max_iter(4).history_size(2));
  expect_losses<LBFGS>("lbfgs_search",
                       LBFGSOptions().max_iter(3).line_search_fn(std::string("strong_wolfe")));
  expect_losses<LBFGS>(
      "lbfgs_tolerance",
      LBFGSOptions().max_iter(20).max_eval(7).tolerance_grad(1e-2).tolerance_change(1e-4));
}

TEST(Curves, OfMuon) {
  const auto expect = [](const char* name, const MuonOptions& options) {
    const Problem problem;
    Muon optimizer(problem.matrices(), options);
    const auto& golden = golden_curves.at(name);
    EXPECT_THAT(losses_of(problem, optimizer, golden.size() - 1),
                testing::Pointwise(NearlyEqual(1e-5), golden))
        << name;
  };
  expect("muon", MuonOptions(0.02));
  expect("muon_adamw", MuonOptions(0.05).momentum(0.8).nesterov(false).adjust_lr_fn(
                           std::string("match_rms_adamw")));
  expect("muon_spectral", MuonOptions(0.02).weight_decay(0).ns_steps(3).adjust_lr_fn(
                              std::string("spectral_unclamped")));
}

/// The rate, and the momentum, before each step.
std::vector<double> rates_under(Optimizer& optimizer, LRScheduler& schedule, size_t steps) {
  std::vector<double> out;
  OptimizerParamGroup& group = optimizer.param_groups()[0];
  for (size_t i = 0; i < steps; ++i) {
    out.push_back(group.get_lr());
    out.push_back(*group.options().momentum_like());
    schedule.step();
  }
  return out;
}

template <class S, class... Args>
void expect_rates(const char* name, Args... args) {
  SGD optimizer({zeros({1}, requires_grad())}, SGDOptions(0.1).momentum(0.9));
  S schedule(optimizer, args...);
  const auto& golden = golden_cycles.at(name);
  EXPECT_THAT(rates_under(optimizer, schedule, golden.size() / 2),
              testing::Pointwise(NearlyEqual(1e-10), golden))
      << name;
}

TEST(Curves, OfSchedules) {
  expect_rates<ConstantLR>("constant", 0.25, 7);
  expect_rates<PolynomialLR>("polynomial", 12, 1.5);
  expect_rates<MultiplicativeLR>("multiplicative", MultiplicativeLR::Function([](int64_t e) {
                                   return 1 - 0.01 * static_cast<double>(e);
                                 }));
  expect_rates<CosineAnnealingWarmRestarts>("restarts", 6, 1, 0.01);
  expect_rates<CosineAnnealingWarmRestarts>("longer_restarts", 4, 2);
  using Options = CyclicLROptions;
  expect_rates<CyclicLR>("cyclic", Options(0.01, 0.2).step_size_up(4));
  expect_rates<CyclicLR>("cyclic_halved", Options(0.01, 0.2).step_size_up(4).step_size_down(6).mode(
                                              Options::triangular2));
  expect_rates<CyclicLR>("cyclic_exp",
                         Options(0.01, 0.2).step_size_up(3).mode(Options::exp_range).gamma(0.95));
  expect_rates<SWALR>("swa", 0.01, 8);
  expect_rates<SWALR>("swa_linear", 0.01, 8, /*cosine=*/false);
}

TEST(Curves, OfACycleThatMovesBeta1) {
  Adam optimizer({zeros({1}, requires_grad())}, AdamOptions(0.1));
  CyclicLR schedule(optimizer, CyclicLROptions(0.01, 0.2).step_size_up(4));
  const auto& golden = golden_cycles.at("cyclic_adam");
  EXPECT_THAT(rates_under(optimizer, schedule, golden.size() / 2),
              testing::Pointwise(NearlyEqual(1e-10), golden));
}

TEST(Curves, OfAverages) {
  const auto expect = [](const char* name, bool ema) {
    std::vector<Tensor> params;
    for (const int64_t n : {6, 2})
      params.push_back(arange(n).to(kDouble).mul(0.25).sub(static_cast<double>(params.size())));
    AveragedParameters averaged =
        ema ? AveragedParameters::ema(params, 0.9) : AveragedParameters(params);
    std::vector<double> sums;
    for (int step = 0; step < 5; ++step) {
      for (Tensor& p : params) p.add_(0.5 * (step + 1) * (step + 1));
      averaged.update();
      double sum = 0;
      for (const Tensor& t : averaged.averages()) sum += t.sum().item<double>();
      sums.push_back(sum);
    }
    EXPECT_THAT(sums, testing::Pointwise(NearlyEqual(1e-10), golden_averages.at(name))) << name;
  };
  expect("swa", false);
  expect("ema", true);
}

}  // namespace
}  // namespace taeda::optim

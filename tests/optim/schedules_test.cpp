// Learning rates and momenta under every schedule, and averages, against PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/averaging.h"
#include "taeda/optim/optim.h"
#include "tests/golden_table.h"

namespace taeda::optim::tables {
namespace {

/// What a schedule does after an epoch with a metric.
using Step = std::function<void(double metric)>;

template <class S, class... Args>
Step schedule(Args&&... args) {
  const auto made = std::make_shared<S>(std::forward<Args>(args)...);
  return [made](double) { made->step(); };
}

Step one_cycle(Optimizer& o, const golden::Row& r) {
  return schedule<OneCycleLR>(
      o, OneCycleLROptions{.max_lr = r.numbers("max_lr"),
                           .total_steps = r.whole("total_steps"),
                           .epochs = r.whole("epochs"),
                           .steps_per_epoch = r.whole("steps_per_epoch"),
                           .pct_start = r.number("pct_start", 0.3),
                           .cosine = !r.says("anneal_strategy", "linear"),
                           .base_momentum = r.number("base_momentum", 0.85),
                           .max_momentum = r.number("max_momentum", 0.95),
                           .div_factor = r.number("div_factor", 25),
                           .final_div_factor = r.number("final_div_factor", 1e4),
                           .three_phase = r.number("three_phase") != 0});
}

Step cyclic(Optimizer& o, const golden::Row& r) {
  using Options = CyclicLROptions;
  Options options{.base_lr = r.numbers("base_lr"),
                  .max_lr = r.numbers("max_lr"),
                  .step_size_up = r.whole("step_size_up", 2000),
                  .mode = r.says("mode", "triangular2") ? Options::triangular2
                          : r.says("mode", "exp_range") ? Options::exp_range
                                                        : Options::triangular,
                  .gamma = r.number("gamma", 1),
                  .cycle_momentum = r.number("cycle_momentum", 1) != 0};
  if (r.has("step_size_down")) options.step_size_down = r.whole("step_size_down");
  return schedule<CyclicLR>(o, options);
}

Step plateau(Optimizer& o, const golden::Row& r) {
  using Options = ReduceLROnPlateauOptions;
  const Options options{
      .mode = r.says("mode", "max") ? Options::max : Options::min,
      .patience = r.whole("patience", 10),
      .threshold_mode = r.says("threshold_mode", "abs") ? Options::abs : Options::rel,
      .cooldown = r.whole("cooldown"),
      .min_lr = r.numbers("min_lr", {0})};
  const auto made = std::make_shared<ReduceLROnPlateau>(o, options);
  return [made](double metric) { made->step(metric); };
}

std::vector<int64_t> whole(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// The functions of a row by their texts.
std::vector<std::function<double(int64_t)>> functions_of(const golden::Row& r) {
  using F = std::function<double(int64_t)>;
  const std::map<std::string, std::vector<F>> known = {
      {"lr_lambda=lambda e: 0.9 ** e", {[](int64_t e) { return std::pow(0.9, e); }}},
      {"lr_lambda=[lambda e: 1 / (1 + e), lambda e: e]",
       {[](int64_t e) { return 1 / (1 + static_cast<double>(e)); },
        [](int64_t e) { return static_cast<double>(e); }}},
      {"lr_lambda=lambda e: 0.9 if e % 2 else 1.1",
       {[](int64_t e) { return e % 2 != 0 ? 0.9 : 1.1; }}}};
  return known.at(r.call);
}

const std::map<std::string, Step (*)(Optimizer&, const golden::Row&)> kSchedules = {
    {"StepLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<StepLR>(o, r.whole("step_size"), r.number("gamma", 0.1));
     }},
    {"MultiStepLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<MultiStepLR>(o, whole(r.numbers("milestones")), r.number("gamma", 0.1));
     }},
    {"LambdaLR",
     [](Optimizer& o, const golden::Row& r) { return schedule<LambdaLR>(o, functions_of(r)); }},
    {"MultiplicativeLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<MultiplicativeLR>(o, functions_of(r));
     }},
    {"ConstantLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<ConstantLR>(o, r.number("factor", 1.0 / 3), r.whole("total_iters", 5));
     }},
    {"LinearLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<LinearLR>(o, r.number("start_factor", 1.0 / 3), r.number("end_factor", 1),
                                 r.whole("total_iters", 5));
     }},
    {"ExponentialLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<ExponentialLR>(o, r.number("gamma"));
     }},
    {"PolynomialLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<PolynomialLR>(o, r.whole("total_iters", 5), r.number("power", 1));
     }},
    {"CosineAnnealingLR",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<CosineAnnealingLR>(o, r.whole("T_max"), r.number("eta_min"));
     }},
    {"CosineAnnealingWarmRestarts",
     [](Optimizer& o, const golden::Row& r) {
       return schedule<CosineAnnealingWarmRestarts>(o, r.whole("T_0"), r.whole("T_mult", 1),
                                                    r.number("eta_min"));
     }},
    {"CyclicLR", cyclic},
    {"OneCycleLR", one_cycle},
    {"ReduceLROnPlateau", plateau}};

/// Of two parameters, whose groups begin with other rates.
template <class O, class Options>
std::unique_ptr<Optimizer> two_groups(const Options& first, const Options& second) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{zeros({1}, requires_grad())});
  groups.emplace_back(std::vector<Tensor>{zeros({1}, requires_grad())},
                      std::make_unique<Options>(second));
  return std::make_unique<O>(std::move(groups), first);
}
std::unique_ptr<Optimizer> sgd() {
  return two_groups<SGD>(SGDOptions(0.1).momentum(0.9), SGDOptions(0.3).momentum(0.9));
}

/// As the table has them: before each epoch rate and momentum of each group, and all rates again.
void expect_rates(const golden::Row& row, Optimizer& optimizer, const Step& step) {
  const double metrics[] = {1.0,     0.9, 0.91, 0.92, 0.93, 0.8, 0.8, 0.8,
                            0.79999, 0.8, 0.7,  0.9,  0.9,  0.9, 0.9};
  std::vector<double> out;
  for (size_t epoch = 0; epoch < 15; ++epoch) {
    for (OptimizerParamGroup& g : optimizer.param_groups()) {
      out.push_back(g.get_lr());
      out.push_back(*g.options().momentum_like());
    }
    for (OptimizerParamGroup& g : optimizer.param_groups()) out.push_back(g.get_lr());
    step(metrics[epoch]);
  }
  EXPECT_THAT(out, testing::Pointwise(golden::NearlyEqual(1e-12), row.values)) << row.text;
}

TEST(Schedules, HavePyTorchsRates) {
  std::set<std::string> seen;
  for (const golden::Row& row : golden::rows_of("optim.json", "rates")) {
    seen.insert(row.name);
    if (row.has("scale_fn")) continue;  // which C++ has not
    const auto optimizer = sgd();
    expect_rates(row, *optimizer, kSchedules.at(row.name)(*optimizer, row));
  }
  EXPECT_EQ(seen.size(), kSchedules.size());
}

using Schedules = std::vector<std::shared_ptr<LRScheduler>>;
const std::map<std::string, Step (*)(Optimizer&)> kComposed = {
    {"SequentialLR",
     [](Optimizer& o) {
       return schedule<SequentialLR>(o,
                                     Schedules{std::make_shared<LinearLR>(o, 1.0 / 3, 1, 3),
                                               std::make_shared<CosineAnnealingWarmRestarts>(o, 3),
                                               std::make_shared<ExponentialLR>(o, 0.9)},
                                     std::vector<int64_t>{3, 8});
     }},
    {"SequentialLR of cosine",
     [](Optimizer& o) {
       return schedule<SequentialLR>(
           o, Schedules{std::make_shared<ConstantLR>(o), std::make_shared<CosineAnnealingLR>(o, 5)},
           std::vector<int64_t>{4});
     }},
    {"ChainedScheduler",
     [](Optimizer& o) {
       return schedule<ChainedScheduler>(Schedules{std::make_shared<ConstantLR>(o, 1.0 / 3, 4),
                                                   std::make_shared<StepLR>(o, 3),
                                                   std::make_shared<ExponentialLR>(o, 0.9)});
     }},
    {"SWALR linear", [](Optimizer& o) { return schedule<SWALR>(o, 0.05, 3, /*cosine=*/false); }},
    {"OneCycleLR of beta1",
     [](Optimizer& o) {
       return schedule<OneCycleLR>(
           o, OneCycleLROptions{.max_lr = 0.01, .epochs = 3, .steps_per_epoch = 6});
     }},
    {"CyclicLR of beta1", [](Optimizer& o) {
       return schedule<CyclicLR>(
           o, CyclicLROptions{.base_lr = 0.01, .max_lr = 0.2, .step_size_up = 4});
     }}};
// Schedules that begin later, and those with a last rate for each group.
const std::set<std::string> kOnlyInPython = {"resumed", "resumed cosine", "SWALR"};

TEST(Schedules, OfSchedulesHavePyTorchsRates) {
  std::set<std::string> seen;
  for (const golden::Row& row : golden::rows_of("optim.json", "composed_rates")) {
    if (kOnlyInPython.contains(row.name)) continue;
    seen.insert(row.name);
    const auto optimizer = row.name.ends_with("of beta1")
                               ? two_groups<Adam>(AdamOptions(0.1), AdamOptions(0.3))
                               : sgd();
    expect_rates(row, *optimizer, kComposed.at(row.name)(*optimizer));
  }
  EXPECT_EQ(seen.size(), kComposed.size());
}

/// The sum of all averages after each of 5 updates of parameters that walk along a line.
std::vector<double> averages_of(const std::string& name) {
  std::vector<Tensor> params;
  for (const int64_t n : {6, 2})
    params.push_back(arange(n).to(kDouble).mul(0.25).sub(static_cast<double>(params.size())));
  AveragedParameters averaged =
      name == "ema" ? AveragedParameters::ema(params, 0.9) : AveragedParameters(params);
  std::vector<double> sums;
  for (int step = 0; step < 5; ++step) {
    for (Tensor& p : params) p.add_(0.5 * (step + 1) * (step + 1));
    averaged.update();
    double sum = 0;
    for (const Tensor& t : averaged.averages()) sum += t.sum().item<double>();
    sums.push_back(sum);
  }
  return sums;
}

TEST(Averages, ArePyTorchs) {
  for (const golden::Row& row : golden::rows_of("optim.json", "averages"))
    EXPECT_THAT(averages_of(row.name), testing::Pointwise(golden::NearlyEqual(1e-12), row.values))
        << row.name;
}

}  // namespace
}  // namespace taeda::optim::tables

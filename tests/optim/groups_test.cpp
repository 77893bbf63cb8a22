// What a group's options do not name, and what schedules do with groups that come later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "taeda/ops/create/create.h"
#include "taeda/optim/optim.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Tensor parameter() { return ones({2, 2}).requires_grad_(); }

std::map<std::string, double> numbers_of(const OptimizerOptions& options) {
  std::map<std::string, double> out;
  options.clone()->visit([&](const char* name, double value) { return out[name] = value; });
  return out;
}

/// Options all of whose numbers differ from the class's own.
template <class Options>
Options unusual(Options options) {
  options.visit([](const char* name, double value) {
    const std::string_view n = name;
    if (n.starts_with("beta") && n != "beta2_decay") return value - 0.25;
    if (n == "max_eval" || n == "adjust_lr_fn" || n == "nesterov" || n == "dampening") return value;
    if (value == 0 || n == "eps1") return 1.0;
    if (n == "d" || n == "etaplus") return 2.0;
    return n == "maximize" || n == "amsgrad" || n == "centered" ? 1.0 : value * 0.5;
  });
  return options;
}

/// A group that names its rate alone has all else from the optimizer, and one that names another
/// option has the optimizer's rate.
template <class O, class Options>
void expect_inherited(Options defaults) {
  const Options wanted = unusual(defaults);
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{parameter()}, std::make_unique<Options>(0.375));
  O optimizer(std::move(groups), wanted);
  auto expected = numbers_of(wanted);
  expected["lr"] = 0.375;
  EXPECT_EQ(numbers_of(optimizer.param_groups()[0].options()), expected);
}

TEST(Groups, WhatIsNotNamedIsTheOptimizers) {
  expect_inherited<SGD>(SGDOptions(0.1));
  expect_inherited<Adam>(AdamOptions());
  expect_inherited<AdamW>(AdamWOptions());
  expect_inherited<RMSprop>(RMSpropOptions());
  expect_inherited<Adagrad>(AdagradOptions());
  expect_inherited<Adadelta>(AdadeltaOptions());
  expect_inherited<Adafactor>(AdafactorOptions());
  expect_inherited<Adamax>(AdamaxOptions());
  expect_inherited<NAdam>(NAdamOptions());
  expect_inherited<RAdam>(RAdamOptions());
  expect_inherited<Rprop>(RpropOptions());
  expect_inherited<ASGD>(ASGDOptions());
  expect_inherited<Lion>(LionOptions());
  expect_inherited<Muon>(MuonOptions());
  expect_inherited<SparseAdam>(SparseAdamOptions());
  expect_inherited<LBFGS>(LBFGSOptions());
}

TEST(Groups, WhatIsNamedIsTheirOwn) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{parameter()},
                      std::make_unique<AdamOptions>(AdamOptions().weight_decay(0)));
  groups.emplace_back(std::vector<Tensor>{parameter()},
                      std::make_unique<AdamOptions>(AdamOptions().betas({0.9, 0.5})));
  groups.emplace_back(std::vector<Tensor>{parameter()}, std::make_unique<AdamOptions>(1e-3));
  Adam optimizer(std::move(groups), AdamOptions(0.5).weight_decay(0.25).betas({0.75, 0.75}));
  const auto options = [&](size_t i) {
    return static_cast<const AdamOptions&>(optimizer.param_groups()[i].options());
  };
  EXPECT_EQ(options(0).weight_decay(), 0);  // named, although it is the class's own
  EXPECT_EQ(options(0).lr(), 0.5);
  EXPECT_EQ(options(0).betas(), std::make_tuple(0.75, 0.75));
  EXPECT_EQ(options(1).betas(), std::make_tuple(0.9, 0.5));
  EXPECT_EQ(options(1).weight_decay(), 0.25);
  EXPECT_EQ(options(2).lr(), 1e-3);
  EXPECT_EQ(options(2).weight_decay(), 0.25);
}

/// A value that was written through a reference counts as named, too.
TEST(Groups, WhatIsWrittenInPlaceIsTheirOwn) {
  auto options = std::make_unique<SGDOptions>(0.5);
  options->momentum() = 0.5;
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{parameter()}, std::move(options));
  SGD optimizer(std::move(groups), SGDOptions(0.1).momentum(0.9).weight_decay(0.25));
  EXPECT_THAT(numbers_of(optimizer.param_groups()[0].options()),
              testing::IsSupersetOf(std::map<std::string, double>{
                  {"lr", 0.5}, {"momentum", 0.5}, {"weight_decay", 0.25}}));
}

/// The groups of one optimizer, given to another, stay what they are.
TEST(Groups, OfAnOptimizerNameAll) {
  const SGD first(std::vector<Tensor>{parameter()}, SGDOptions(0.5));
  SGD second(first.param_groups(), SGDOptions(0.1).momentum(0.9));
  EXPECT_EQ(static_cast<SGDOptions&>(second.param_groups()[0].options()).momentum(), 0);
}

TEST(Groups, ThatComeAfterASchedule) {
  const auto grow = [](Optimizer& optimizer) {
    optimizer.add_param_group(OptimizerParamGroup({parameter()}));
  };
  const auto two = [] {
    return std::vector<OptimizerParamGroup>{{{parameter()}}, {{parameter()}}};
  };
  const auto refused = ThrowsMessage<ValueError>(HasSubstr("values for 2 param groups"));
  SGD a(two(), SGDOptions(1)), b(two(), SGDOptions(1)), c(two(), SGDOptions(1));
  const auto half = [](int64_t) { return 0.5; };
  LambdaLR lambda(a, std::vector<LambdaLR::Function>{half, half});
  CyclicLR cyclic(
      b, CyclicLROptions{.base_lr = {0.1, 0.2}, .max_lr = {0.2, 0.3}, .cycle_momentum = false});
  ReduceLROnPlateauScheduler plateau(c, {.patience = 0, .min_lr = {0.1, 0.2}});
  for (SGD* optimizer : {&a, &b, &c}) grow(*optimizer);
  EXPECT_THAT([&] { lambda.step(); }, refused);
  EXPECT_THAT([&] { cyclic.step(); }, refused);
  plateau.step(1);
  EXPECT_THAT([&] { plateau.step(1); }, refused);
}

}  // namespace
}  // namespace taeda::optim

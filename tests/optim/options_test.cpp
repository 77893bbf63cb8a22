// Options of optimizers as values: what programs write in braces, and what a group then names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule.h"
#include "tests/error_of.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;

Tensor square_leaf() { return ones({2, 2}).requires_grad_(); }

template <class Options>
const Options& own_options(const Optimizer& optimizer, size_t group = 0) {
  return static_cast<const Options&>(optimizer.param_groups()[group].options());
}

TEST(Options, MayBeNamedInBraces) {
  const std::vector<Tensor> params{square_leaf()};
  const SGD sgd(params, {.lr = 0.5, .momentum = 0.9});
  EXPECT_EQ(own_options<SGDOptions>(sgd).lr(), 0.5);
  EXPECT_EQ(own_options<SGDOptions>(sgd).momentum(), 0.9);
  EXPECT_EQ(own_options<SGDOptions>(sgd).dampening(), 0);
  const Adam adam({square_leaf()}, {.betas = {0.8, 0.9}, .amsgrad = true});
  EXPECT_EQ(own_options<AdamOptions>(adam).betas(), std::make_tuple(0.8, 0.9));
  EXPECT_TRUE(own_options<AdamOptions>(adam).amsgrad());
  EXPECT_EQ(own_options<AdamOptions>(adam).lr(), 1e-3);
  const AdEMAMix mix(params, {.betas = {0.9, 0.99, 0.999}, .beta3_warmup = 3});
  EXPECT_EQ(own_options<AdEMAMixOptions>(mix).beta3_warmup(), 3);
  const Muon muon(params, {.ns_coefficients = {1, 2, 3}, .adjust_lr_fn = "match_rms_adamw"});
  EXPECT_EQ(own_options<MuonOptions>(muon).adjust_lr_fn(), "match_rms_adamw");
  const Adafactor factored(params, {.eps = {std::nullopt, 0.5}});
  EXPECT_EQ(std::get<0>(own_options<AdafactorOptions>(factored).eps()), std::nullopt);
  EXPECT_EQ(std::get<1>(own_options<AdafactorOptions>(factored).eps()), 0.5);
  const LBFGS lbfgs(params, {.max_eval = 7, .line_search_fn = "strong_wolfe"});
  EXPECT_EQ(own_options<LBFGSOptions>(lbfgs).max_eval(), 7);
  EXPECT_EQ(own_options<LBFGSOptions>(lbfgs).max_iter(), 20);
}

TEST(Options, MayBeTheRateAlone) {
  const std::vector<Tensor> params{square_leaf()};
  EXPECT_EQ(own_options<AdamOptions>(Adam(params, {0.25})).lr(), 0.25);
  EXPECT_EQ(own_options<SGDOptions>(SGD(params, 0.25)).lr(), 0.25);
  EXPECT_EQ(own_options<SGDOptions>(SGD({square_leaf(), square_leaf()}, 1)).lr(), 1);
  EXPECT_EQ(own_options<LBFGSOptions>(LBFGS(params, 0.25)).lr(), 0.25);
}

TEST(Options, OfAnEmptyListOfParametersAreRefused) {
  EXPECT_THAT(error_of([] { Adam({}, 0.1); }), HasSubstr("optimizer got an empty parameter list"));
  EXPECT_THAT(error_of([] { Adam({}, {.lr = 0.1}); }),
              HasSubstr("optimizer got an empty parameter list"));
}

TEST(Options, MayBeLeftOut) {
  const std::vector<Tensor> params{square_leaf()};
  EXPECT_EQ(own_options<SGDOptions>(SGD(params)).lr(), 1e-3);
  EXPECT_EQ(Adam({params}).param_groups().size(), 1u);
  EXPECT_EQ(Adam({square_leaf(), square_leaf()}).param_groups().size(), 1u);
  EXPECT_EQ(own_options<AdamWOptions>(AdamW(params, {})).weight_decay(), 1e-2);
}

TEST(Options, OfGroupsMayBeNamedInBraces) {
  const std::vector<Tensor> body{square_leaf(), square_leaf()}, head{square_leaf()};
  const Adam adam({{body, {.lr = 0.25, .weight_decay = 0}}, {head}},
                  {.lr = 0.5, .weight_decay = 0.125});
  ASSERT_EQ(adam.param_groups().size(), 2u);
  EXPECT_EQ(adam.param_groups()[0].params().size(), 2u);
  EXPECT_EQ(own_options<AdamOptions>(adam, 0).lr(), 0.25);
  EXPECT_EQ(own_options<AdamOptions>(adam, 0).weight_decay(), 0);  // named, though it is usual
  EXPECT_EQ(own_options<AdamOptions>(adam, 1).lr(), 0.5);
  EXPECT_EQ(own_options<AdamOptions>(adam, 1).weight_decay(), 0.125);
  const Adam tensors({{{square_leaf()}, {.lr = 0.25}}, {{square_leaf()}}}, 0.5);
  EXPECT_EQ(own_options<AdamOptions>(tensors, 0).lr(), 0.25);
  EXPECT_EQ(own_options<AdamOptions>(tensors, 1).lr(), 0.5);
  const Adam older({{body, std::make_unique<AdamOptions>(0.25)}, {head}}, AdamOptions(0.5));
  EXPECT_EQ(own_options<AdamOptions>(older, 0).lr(), 0.25);
  EXPECT_EQ(own_options<AdamOptions>(older, 1).lr(), 0.5);
}

TEST(Options, AreValues) {
  AdamConfig config{.lr = 0.25};
  config.weight_decay = 0.5;
  const AdamConfig copy = config;
  config.lr = 0.125;
  const Adam adam({square_leaf()}, copy);
  EXPECT_EQ(own_options<AdamOptions>(adam).lr(), 0.25);
  EXPECT_EQ(own_options<AdamOptions>(adam).weight_decay(), 0.5);
  EXPECT_TRUE(AdamOptions(copy) == AdamOptions(0.25).weight_decay(0.5));
  EXPECT_EQ(copy.lr * 2, 0.5);
}

TEST(Options, AreCalledToReadAndToSet) {
  AdamOptions options(0.5);
  options.lr(2.).eps(0.25);
  EXPECT_EQ(options.lr(), 2);
  options.lr() = 3.;
  EXPECT_EQ(options.get_lr(), 3);
  options.set_lr(4);
  EXPECT_EQ(options.lr(), 4);
  EXPECT_EQ(*options.momentum_like(), 0.9);
  EXPECT_EQ(options.eps(), 0.25);
}

TEST(Options, ThatNamesDoNotKnowAreRefused) {
  const std::vector<Tensor> params{square_leaf()};
  EXPECT_THAT(error_of([&] { Muon(params, {.adjust_lr_fn = "guess"}); }),
              HasSubstr("Adjust learning rate function guess is not supported"));
  EXPECT_THAT(error_of([&] { LBFGS(params, {.line_search_fn = ""}); }),
              HasSubstr("only 'strong_wolfe' is supported for line_search_fn, but got ''"));
  EXPECT_THAT(error_of([&] { LBFGS(params, {.max_eval = -1}); }),
              HasSubstr("Invalid max_eval value: -1"));
  LBFGSOptions options;
  EXPECT_THAT(error_of([&] { options.visit([](const char*, double) { return HUGE_VAL; }); }),
              HasSubstr("Invalid max_iter value: inf"));
}

TEST(Options, OfALaterGroupAreCheckedWithItsParameters) {
  Muon muon({square_leaf()}, {.lr = 0.1});
  EXPECT_THAT(error_of([&] { muon.add_parameters({ones({3}).requires_grad_()}); }),
              HasSubstr("Muon only supports 2D parameters whereas we found a parameter with size: "
                        "[3]"));
  EXPECT_EQ(muon.param_groups().size(), 1u);
}

/// A group's options that another optimizer's took the place of are no reason to read wrong memory.
TEST(Options, OfAnotherOptimizerAreRefusedByAStep) {
  const Tensor p = square_leaf();
  p.mutable_grad() = ones({2, 2});
  SGD sgd({p}, 0.1);
  sgd.param_groups()[0].set_options(std::make_unique<AdamOptions>(0.1));
  EXPECT_THAT(error_of([&] { sgd.step(); }),
              HasSubstr("SGD: a parameter group has the options of another optimizer"));
}

}  // namespace
}  // namespace taeda::optim

// Optimizers against PyTorch's numbers, their options, groups, states and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/create.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/optim/golden.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A leaf with element i equal to f(i).
template <class F>
Tensor leaf(IntArrayRef sizes, F f) {
  Tensor t = empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<float>()[i] = static_cast<float>(f(i));
  t.requires_grad_();
  return t;
}

std::vector<Tensor> make_params() {
  return {leaf({2, 3}, [](int64_t i) { return i / 4.0 - 0.5; }),
          leaf({4}, [](int64_t i) { return -0.25 * i + 0.3; })};
}

/// The gradients that tests/golden/optim.py uses.
void set_gradients(const std::vector<Tensor>& params, int step) {
  for (int k = 0; k < 2; ++k) {
    if (k == 1 && step == 1) {
      params[k].mutable_grad().reset();
      continue;
    }
    Tensor g = empty(params[k].sizes());
    for (int64_t i = 0; i < g.numel(); ++i)
      g.data_ptr<float>()[i] =
          static_cast<float>((i - 2.0 + k) * 0.125 * (step + 1) - 0.0625 * i * i);
    params[k].mutable_grad() = g;
  }
}

std::vector<double> values(const std::vector<Tensor>& tensors) {
  std::vector<double> out;
  for (const Tensor& t : tensors) {
    const Tensor c = t.detach().contiguous();
    for (int64_t i = 0; i < c.numel(); ++i) out.push_back(c.data_ptr<float>()[i]);
  }
  return out;
}

void expect_golden(const std::string& name, const std::vector<Tensor>& params,
                   Optimizer& optimizer) {
  for (int step = 0; step < 5; ++step) {
    set_gradients(params, step);
    optimizer.step();
  }
  EXPECT_THAT(values(params),
              testing::Pointwise(testing::DoubleNear(2e-6), golden_parameters.at(name)))
      << name;
}

template <class O, class Options>
void expect_golden(const std::string& name, const Options& options) {
  const std::vector<Tensor> params = make_params();
  O optimizer(params, options);
  expect_golden(name, params, optimizer);
}

TEST(Optimizer, SgdMatchesPyTorch) {
  expect_golden<SGD>("sgd", SGDOptions(0.1));
  expect_golden<SGD>("sgd_momentum", SGDOptions(0.1).momentum(0.9));
  expect_golden<SGD>("sgd_dampening_decay",
                     SGDOptions(0.1).momentum(0.8).dampening(0.3).weight_decay(0.05));
  expect_golden<SGD>("sgd_nesterov",
                     SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01));
  expect_golden<SGD>("sgd_maximize",
                     SGDOptions(0.1).momentum(0.5).maximize(true).weight_decay(0.1));
}

TEST(Optimizer, AdamMatchesPyTorch) {
  expect_golden<Adam>("adam", AdamOptions(0.01));
  expect_golden<Adam>("adam_decay",
                      AdamOptions(0.02).betas({0.8, 0.95}).eps(1e-6).weight_decay(0.1));
  expect_golden<Adam>("adam_amsgrad", AdamOptions(0.05).amsgrad(true));
  expect_golden<Adam>("adam_maximize", AdamOptions(0.05).maximize(true).weight_decay(0.01));
  expect_golden<AdamW>("adamw", AdamWOptions(0.01));
  expect_golden<AdamW>("adamw_amsgrad", AdamWOptions(0.03).weight_decay(0.2).amsgrad(true));
}

TEST(Optimizer, RmspropMatchesPyTorch) {
  expect_golden<RMSprop>("rmsprop", RMSpropOptions(0.01));
  expect_golden<RMSprop>("rmsprop_centered", RMSpropOptions(0.01).centered(true).weight_decay(0.1));
  expect_golden<RMSprop>("rmsprop_momentum", RMSpropOptions(0.01).alpha(0.9).momentum(0.8));
  expect_golden<RMSprop>("rmsprop_all", RMSpropOptions(0.01).centered(true).momentum(0.5));
}

TEST(Optimizer, AdagradMatchesPyTorch) {
  expect_golden<Adagrad>("adagrad", AdagradOptions(0.1));
  expect_golden<Adagrad>(
      "adagrad_all",
      AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.05).initial_accumulator_value(0.2).eps(
          1e-4));
}

TEST(Optimizer, ParametersOfAnyMemoryOrderTakeTheSameStep) {
  // The first is transposed in memory, the second has gaps between its elements.
  std::vector<Tensor> params = make_params();
  const Tensor wide = empty({3, 2}), gaps = empty({8});
  const std::vector<Tensor> views = {make_view(wide, Layout{{2, 3}, {1, 2}, 0}),
                                     make_view(gaps, Layout{{4}, {2}, 0})};
  for (int k = 0; k < 2; ++k) views[k].copy_(params[k].detach());
  std::vector<Tensor> leaves;
  for (const Tensor& v : views) leaves.push_back(v.detach().requires_grad_());
  Adam optimizer(leaves, AdamOptions(0.01));
  expect_golden("adam", leaves, optimizer);
}

TEST(Optimizer, ManyElementsAreCutAcrossThreads) {
  const auto run = [](int threads) {
    const int before = get_num_threads();
    set_num_threads(threads);
    const std::vector<Tensor> params = {leaf({70000}, [](int64_t i) { return i % 7; }),
                                        leaf({3}, [](int64_t i) { return i; }),
                                        leaf({100001}, [](int64_t i) { return i % 5; })};
    for (const Tensor& p : params) p.mutable_grad() = p.detach().clone();
    Adam optimizer(params, AdamOptions(0.01).weight_decay(0.1));
    for (int step = 0; step < 3; ++step) optimizer.step();
    set_num_threads(before);
    return values(params);
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(Optimizer, DoubleAndHalfParametersKeepTheirDtype) {
  for (const ScalarType dtype : {kDouble, kHalf, kBFloat16}) {
    Tensor p = full({4}, 1.0, dtype);
    p.requires_grad_();
    p.mutable_grad() = full({4}, 0.5, dtype);
    SGD optimizer(std::vector<Tensor>{p}, SGDOptions(0.25).momentum(0.5));
    optimizer.step();
    optimizer.step();
    EXPECT_EQ(p.dtype(), dtype);
    EXPECT_EQ(optimizer.state(p).tensors[0].dtype(), dtype);
    EXPECT_DOUBLE_EQ(p.detach().to(kDouble).data_ptr<double>()[3], 1 - 0.125 - 0.25 * 0.75);
  }
}

TEST(Optimizer, StepBumpsVersionsAndRunsTheClosure) {
  const std::vector<Tensor> params = make_params();
  SGD optimizer(params, 0.1);
  const int64_t version = params[0]._version();
  bool gradients_enabled = false;
  NoGradGuard no_grad;
  const Tensor loss = optimizer.step([&] {
    gradients_enabled = GradMode::is_enabled();
    set_gradients(params, 0);
    return full({}, 3.0);
  });
  EXPECT_TRUE(gradients_enabled);
  EXPECT_EQ(loss.item<double>(), 3);
  EXPECT_GT(params[0]._version(), version);
}

TEST(Optimizer, ZeroGradDropsOrZeroes) {
  const std::vector<Tensor> params = make_params();
  SGD optimizer(params, 0.1);
  set_gradients(params, 0);
  const Tensor grad = params[0].grad();
  optimizer.zero_grad(/*set_to_none=*/false);
  EXPECT_TRUE(params[0].grad().is_same(grad));
  EXPECT_THAT(values({grad}), testing::Each(0));
  optimizer.zero_grad();
  EXPECT_FALSE(params[0].grad().defined());
}

TEST(Optimizer, GroupsHaveTheirOwnOptions) {
  const std::vector<Tensor> params = make_params();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{params[0]});
  groups.emplace_back(std::vector<Tensor>{params[1]},
                      std::make_unique<SGDOptions>(SGDOptions(0.5).momentum(0.1)));
  SGD optimizer(std::move(groups), SGDOptions(0.25));
  EXPECT_EQ(optimizer.param_groups()[0].get_lr(), 0.25);
  EXPECT_EQ(static_cast<SGDOptions&>(optimizer.param_groups()[1].options()).momentum(), 0.1);
  optimizer.param_groups()[0].options().set_lr(0.125);
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.125);
  EXPECT_EQ(static_cast<SGDOptions&>(optimizer.defaults()).lr(), 0.25);
  EXPECT_EQ(optimizer.size(), 2u);
  EXPECT_TRUE(optimizer.parameters()[1].is_same(params[1]));
}

TEST(Optimizer, StateDictResumesExactly) {
  const auto fresh = [](const std::vector<Tensor>& p) {
    return std::make_unique<Adam>(p, AdamOptions(0.03).amsgrad(true).weight_decay(0.1));
  };
  const std::vector<Tensor> straight = make_params(), resumed = make_params();
  auto first = fresh(straight);
  auto second = fresh(resumed);
  for (int step = 0; step < 5; ++step) {
    if (step == 2) {
      static_cast<AdamOptions&>(second->param_groups()[0].options()).lr(0.02);
      first->param_groups()[0].set_lr(0.02);
      const OptimizerState saved = second->state_dict();
      EXPECT_TRUE(saved.tensors.contains("state.1.max_exp_avg_sq"));
      EXPECT_EQ(saved.numbers["state.1.step"], 1);
      EXPECT_EQ(saved.numbers["param_groups.0.lr"], 0.02);
      EXPECT_EQ(saved.numbers["param_groups.0.amsgrad"], 1);
      second = fresh(resumed);
      second->load_state_dict(saved);
      EXPECT_EQ(second->param_groups()[0].get_lr(), 0.02);
    }
    set_gradients(straight, step);
    set_gradients(resumed, step);
    first->step();
    second->step();
  }
  EXPECT_EQ(values(straight), values(resumed));
}

TEST(Optimizer, StateDictOfOtherParametersIsRefused) {
  const std::vector<Tensor> params = make_params();
  SGD two(params, 0.1), one(std::vector<Tensor>{params[0]}, 0.1);
  EXPECT_THAT([&] { one.load_state_dict(two.state_dict()); },
              ThrowsMessage<ValueError>(HasSubstr("doesn't match the size of optimizer's group")));
  SGD groups(std::vector<OptimizerParamGroup>{{{params[0]}}, {{params[1]}}}, SGDOptions(0.1));
  EXPECT_THAT([&] { groups.load_state_dict(two.state_dict()); },
              ThrowsMessage<ValueError>(HasSubstr("different number of parameter groups")));
  SGD momentum(std::vector<Tensor>{params[0]}, SGDOptions(0.1).momentum(0.5));
  set_gradients(params, 0);
  momentum.step();
  SGD other(std::vector<Tensor>{params[1]}, SGDOptions(0.1).momentum(0.5));
  EXPECT_THAT([&] { other.load_state_dict(momentum.state_dict()); },
              ThrowsMessage<ValueError>(HasSubstr("state.0.momentum_buffer of shape [2, 3]")));
}

TEST(Optimizer, RejectsWhatItCannotOptimize) {
  const std::vector<Tensor> params = make_params();
  EXPECT_THAT([] { SGD(std::vector<Tensor>(), 0.1); },
              ThrowsMessage<ValueError>("optimizer got an empty parameter list"));
  EXPECT_THAT(
      [&] {
        SGD(std::vector<Tensor>{params[0], params[0]}, 0.1);
      },
      ThrowsMessage<ValueError>("some parameters appear in more than one parameter group"));
  EXPECT_THAT([&] { SGD(std::vector<Tensor>{params[0].add(1)}, 0.1); },
              ThrowsMessage<ValueError>("can't optimize a non-leaf Tensor"));
  EXPECT_THAT([&] { SGD(std::vector<Tensor>{Tensor()}, 0.1); },
              ThrowsMessage<ValueError>(HasSubstr("undefined")));
  SGD optimizer(std::vector<Tensor>{params[0]}, 0.1);
  EXPECT_THAT([&] { optimizer.state(params[1]); },
              ThrowsMessage<Error>(HasSubstr("does not hold")));
  EXPECT_THAT([&] { OptimizerParamGroup(params).options(); },
              ThrowsMessage<Error>(HasSubstr("no options")));
  params[0].mutable_grad() = empty({5});
  EXPECT_THAT(
      [&] { optimizer.step(); },
      ThrowsMessage<Error>(HasSubstr("SGD: expected the gradient of parameter 0 of group 0 to "
                                     "be Float [2, 3] on cpu like the parameter, but got "
                                     "Float [5] on cpu")));
}

template <class Options>
auto checking(const Options& options) {
  return [options] { options.check(); };
}

TEST(Optimizer, RejectsBadNumbers) {
  const auto says = [](const char* text) { return ThrowsMessage<ValueError>(text); };
  EXPECT_THAT(checking(SGDOptions(-1)), says("Invalid learning rate: -1"));
  EXPECT_THAT(checking(SGDOptions(1).momentum(-0.5)), says("Invalid momentum value: -0.5"));
  EXPECT_THAT(checking(SGDOptions(1).weight_decay(-1)), says("Invalid weight_decay value: -1"));
  EXPECT_THAT(checking(SGDOptions(1).nesterov(true)),
              says("Nesterov momentum requires a momentum and zero dampening"));
  EXPECT_THAT(checking(AdamOptions(-1)), says("Invalid learning rate: -1"));
  EXPECT_THAT(checking(AdamOptions().eps(-1)), says("Invalid epsilon value: -1"));
  EXPECT_THAT(checking(AdamOptions().betas({1.5, 0.9})),
              says("Invalid beta parameter at index 0: 1.5"));
  EXPECT_THAT(checking(AdamWOptions().betas({0.5, 1.0})),
              says("Invalid beta parameter at index 1: 1"));
  EXPECT_THAT(checking(AdamWOptions().weight_decay(-1)), says("Invalid weight_decay value: -1"));
  EXPECT_THAT(checking(RMSpropOptions(-1)), says("Invalid learning rate: -1"));
  EXPECT_THAT(checking(RMSpropOptions().alpha(-1)), says("Invalid alpha value: -1"));
  EXPECT_THAT(checking(RMSpropOptions().eps(-1)), says("Invalid epsilon value: -1"));
  EXPECT_THAT(checking(RMSpropOptions().momentum(-1)), says("Invalid momentum value: -1"));
  EXPECT_THAT(checking(RMSpropOptions().weight_decay(-1)), says("Invalid weight_decay value: -1"));
  EXPECT_THAT(checking(AdagradOptions(-1)), says("Invalid learning rate: -1"));
  EXPECT_THAT(checking(AdagradOptions().lr_decay(-1)), says("Invalid lr_decay value: -1"));
  EXPECT_THAT(checking(AdagradOptions().weight_decay(-1)), says("Invalid weight_decay value: -1"));
  EXPECT_THAT(checking(AdagradOptions().initial_accumulator_value(-1)),
              says("Invalid initial_accumulator_value value: -1"));
  EXPECT_THAT(checking(AdagradOptions().eps(-1)), says("Invalid epsilon value: -1"));
}

}  // namespace
}  // namespace taeda::optim

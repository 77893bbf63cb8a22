// State that no longer fits its parameter, or never did: named errors that change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <sstream>

#include "taeda/io/serialize.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"

namespace taeda::optim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Params = std::vector<Tensor>;
struct Kind {
  const char* name;
  const char* state;
  std::function<std::unique_ptr<Optimizer>(const Params&)> make;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"SGD", "momentum_buffer",
       [](const Params& p) { return std::make_unique<SGD>(p, SGDOptions(0.1).momentum(0.9)); }},
      {"Adam", "exp_avg",
       [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions(0.1).amsgrad(true)); }},
      {"AdamW", "exp_avg",
       [](const Params& p) { return std::make_unique<AdamW>(p, AdamWOptions(0.1)); }},
      {"RMSprop", "square_avg",
       [](const Params& p) {
         return std::make_unique<RMSprop>(p, RMSpropOptions(0.1).centered(true).momentum(0.5));
       }},
      {"Adagrad", "sum",
       [](const Params& p) { return std::make_unique<Adagrad>(p, AdagradOptions(0.1)); }},
      {"Adadelta", "square_avg",
       [](const Params& p) { return std::make_unique<Adadelta>(p, AdadeltaOptions(0.1)); }},
      {"Adamax", "exp_avg",
       [](const Params& p) { return std::make_unique<Adamax>(p, AdamaxOptions(0.1)); }},
      {"NAdam", "exp_avg",
       [](const Params& p) { return std::make_unique<NAdam>(p, NAdamOptions(0.1)); }},
      {"RAdam", "exp_avg",
       [](const Params& p) { return std::make_unique<RAdam>(p, RAdamOptions(0.1)); }},
      {"Rprop", "prev",
       [](const Params& p) { return std::make_unique<Rprop>(p, RpropOptions(0.1)); }},
      {"ASGD", "ax", [](const Params& p) { return std::make_unique<ASGD>(p, ASGDOptions(0.1)); }},
      {"AdEMAMix", "exp_avg_fast",
       [](const Params& p) { return std::make_unique<AdEMAMix>(p, AdEMAMixOptions(0.1)); }},
      {"Lion", "exp_avg",
       [](const Params& p) { return std::make_unique<Lion>(p, LionOptions(0.1)); }}};
  return all;
}

Tensor numbered(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return arange(product(sizes)).to(kFloat).add(1).mul(0.125).reshape(sizes).to(dtype);
}
Tensor leaf(IntArrayRef sizes, ScalarType dtype = kFloat) {
  return numbered(sizes, dtype).requires_grad_();
}
void set_gradients(const Params& params) {
  for (const Tensor& p : params) p.mutable_grad() = numbered(p.sizes(), p.dtype()).mul(0.5);
}
std::vector<double> values(const Tensor& t) {
  const Tensor c = t.detach().to(kDouble).contiguous();
  return {c.data_ptr<double>(), c.data_ptr<double>() + c.numel()};
}

/// Whether both keep the same by the same names.
bool alike(const Kind& a, const Kind& b) {
  static const std::set<std::string> adams = {"Adam", "AdamW"};
  return adams.count(a.name) == 1 && adams.count(b.name) == 1;
}

TEST(OptimizerState, AModelThatChangedItsDtypeIsAnError) {
  for (const Kind& kind : kinds()) {
    nn::Linear net(16, 16);
    const Params params = net->parameters();
    const auto optimizer = kind.make(params);
    set_gradients(params);
    optimizer->step();
    net->to(kDouble);
    set_gradients(params);
    const auto before = values(params[0]);
    EXPECT_THAT(error_of([&] { optimizer->step(); }),
                AllOf(HasSubstr(std::string(kind.name) + ": expected the state " + kind.state +
                                " of parameter 0 of group 0 to be Double [16, 16] on cpu like the "
                                "parameter, but got Float [16, 16] on cpu")))
        << kind.name;
    EXPECT_EQ(values(params[0]), before);
    EXPECT_EQ(optimizer->state(params[0]).step, 1);
    optimizer->load_state_dict(optimizer->state_dict());  // casts, as in PyTorch
    optimizer->step();
    EXPECT_EQ(optimizer->state(params[0]).tensors[0].dtype(), kDouble);
  }
}

TEST(OptimizerState, AParameterOfAnotherShapeIsAnError) {
  for (const Kind& kind : kinds()) {
    const Params params = {leaf({2}), leaf({4, 6})};
    const auto optimizer = kind.make(params);
    set_gradients(params);
    optimizer->step();
    params[1].set_data(numbered({5, 100}));
    set_gradients(params);
    const auto before = values(params[0]);
    EXPECT_THAT(error_of([&] { optimizer->step(); }),
                HasSubstr(std::string(kind.state) +
                          " of parameter 1 of group 0 to be Float [5, 100] on cpu like the "
                          "parameter, but got Float [4, 6] on cpu"));
    EXPECT_EQ(values(params[0]), before) << "parameters before it are untouched";
    EXPECT_EQ(optimizer->state(params[0]).step, 1);
    params[1].mutable_grad().reset();
    optimizer->step();
    EXPECT_EQ(optimizer->state(params[0]).step, 2);
  }
}

TEST(OptimizerState, FollowsTheMemoryOrderOfItsParameter) {
  for (const Kind& kind : kinds()) {
    const Params plain = {leaf({3, 5})}, turned = {leaf({3, 5})};
    const auto a = kind.make(plain), b = kind.make(turned);
    for (int step = 0; step < 4; ++step) {
      set_gradients(plain);
      set_gradients(turned);
      a->step();
      b->step();
      const Tensor now = turned[0].detach();
      // The same values: transposed in memory, then with gaps, then as before.
      Tensor other = empty({5, 3}).transpose(0, 1);
      if (step == 1) other = empty({3, 10}).slice(1, 0, 10, 2);
      if (step == 2) other = empty({3, 5});
      other.copy_(now);
      turned[0].set_data(other);
    }
    EXPECT_EQ(values(plain[0]), values(turned[0])) << kind.name;
  }
}

TEST(OptimizerState, OptionsThatAreTurnedOnLaterMakeTheirState) {
  const Params params = {leaf({3})};
  SGD sgd(params, SGDOptions(0.1));
  RMSprop rmsprop(params, RMSpropOptions(0.1));
  for (Optimizer* o : {static_cast<Optimizer*>(&sgd), static_cast<Optimizer*>(&rmsprop)}) {
    set_gradients(params);
    o->step();
  }
  EXPECT_FALSE(sgd.state(params[0]).tensors[0].defined());
  static_cast<SGDOptions&>(sgd.param_groups()[0].options()).momentum(0.5);
  static_cast<RMSpropOptions&>(rmsprop.param_groups()[0].options()).centered(true);
  sgd.step();
  rmsprop.step();
  EXPECT_EQ(values(sgd.state(params[0]).tensors[0]), values(params[0].grad()));
  const auto& means = static_cast<const RMSpropParamState&>(rmsprop.state(params[0]));
  EXPECT_TRUE(means.grad_avg().defined());
  EXPECT_FALSE(means.momentum_buffer().defined());
  static_cast<SGDOptions&>(sgd.param_groups()[0].options()).momentum(0);
  sgd.step();
  EXPECT_EQ(sgd.state(params[0]).step, 3);
}

TEST(OptimizerState, AParameterWithoutAKernelCountsNothing) {
  const Params params = {leaf({2}), numbered({2}).to(kComplexFloat)};
  params[1].requires_grad_();
  Adam optimizer(params, AdamOptions(0.1));
  params[0].mutable_grad() = numbered({2});
  params[1].mutable_grad() = params[1].detach().clone();
  const auto before = values(params[0]);
  EXPECT_THAT(error_of([&] { optimizer.step(); }),
              HasSubstr("\"Adam\" not implemented for 'ComplexFloat'"));
  EXPECT_EQ(values(params[0]), before);
  EXPECT_EQ(optimizer.state(params[0]).step, 0);
}

TEST(OptimizerState, AParameterThatAProgramAddsHasNoStateYet) {
  const Params params = {leaf({2})};
  const Tensor late = leaf({3});
  Adam optimizer(params, AdamOptions(0.1));
  set_gradients({params[0], late});
  optimizer.step();
  optimizer.param_groups()[0].params().push_back(late);
  EXPECT_EQ(optimizer.state(late).step, 0);
  optimizer.step();
  EXPECT_EQ(optimizer.state(late).step, 1);
  EXPECT_TRUE(optimizer.state_dict().tensors.contains("state.1.exp_avg"));
}

TEST(OptimizerState, AnUndefinedParameterIsNamed) {
  const Params params = {leaf({2}), leaf({2})};
  SGD optimizer(params, SGDOptions(0.1));
  set_gradients(params);
  optimizer.param_groups()[0].params()[1] = Tensor();
  EXPECT_THAT(error_of([&] { optimizer.step(); }),
              HasSubstr("parameter 1 of group 0 is undefined"));
}

// ---- load_state_dict ----

TEST(OptimizerStateDict, TheStateOfAnotherClassIsRefused) {
  for (const Kind& from : kinds())
    for (const Kind& to : kinds()) {
      const Params params = {leaf({3})};
      const auto a = from.make(params), b = to.make(params);
      set_gradients(params);
      a->step();
      b->step();
      OptimizerState state = a->state_dict();
      EXPECT_EQ(state.kind, from.name);
      if (&from == &to) {
        EXPECT_NO_THROW(b->load_state_dict(state));
        continue;
      }
      const auto before = values(b->state(params[0]).tensors[0]);
      EXPECT_THAT(error_of([&] { b->load_state_dict(state); }),
                  HasSubstr(std::string("loaded state dict is that of an optimizer of class ") +
                            from.name + ", but this one is of class " + to.name));
      state.kind.clear();  // as older versions wrote it: names tell
      const bool same_names = alike(from, to);
      EXPECT_EQ(error_of([&] { b->load_state_dict(state); }) == "no error", same_names)
          << from.name << " into " << to.name;
      if (!same_names) {
        EXPECT_EQ(values(b->state(params[0]).tensors[0]), before);
      }
    }
}

TEST(OptimizerStateDict, FilesCarryTheClass) {
  const Params params = {leaf({3})};
  Adam adam(params, AdamOptions(0.1));
  set_gradients(params);
  adam.step();
  std::stringstream file;
  save(static_cast<const Optimizer&>(adam), file);
  const std::string bytes = file.str();
  AdamW other(params, AdamWOptions(0.1));
  EXPECT_THAT(error_of([&] { load(other, file); }), HasSubstr("of class Adam,"));
  std::stringstream again(bytes);
  Adam fresh(params, AdamOptions(0.5));
  load(fresh, again);
  EXPECT_EQ(fresh.state(params[0]).step, 1);
  EXPECT_EQ(fresh.param_groups()[0].get_lr(), 0.1);
}

TEST(OptimizerStateDict, WhatDoesNotFitChangesNothing) {
  const Params params = {leaf({3}), leaf({2, 2})};
  Adam adam(params, AdamOptions(0.1));
  set_gradients(params);
  adam.step();
  OptimizerState good = adam.state_dict();
  for (auto& item : good.tensors) item.value() = item.value().detach().clone();
  adam.param_groups()[0].set_lr(0.25);
  adam.step();
  const auto expect_refused = [&](const char* text, const auto& spoil) {
    OptimizerState bad;
    bad.kind = good.kind;
    bad.tensors = good.tensors;
    bad.numbers = good.numbers;
    spoil(bad);
    const auto before = values(adam.state(params[0]).tensors[0]);
    try {
      adam.load_state_dict(bad);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const ValueError& e) {
      EXPECT_THAT(e.what(), HasSubstr(text));
    }
    EXPECT_EQ(adam.param_groups()[0].get_lr(), 0.25);
    EXPECT_EQ(adam.state(params[0]).step, 2);
    EXPECT_EQ(values(adam.state(params[0]).tensors[0]), before);
  };
  expect_refused("state.1.exp_avg_sq of shape [3]",
                 [](auto& s) { s.tensors["state.1.exp_avg_sq"] = numbered({3}); });
  expect_refused("state.1.exp_avg of dtype Long", [](auto& s) {
    s.tensors["state.1.exp_avg"] = numbered({2, 2}, kLong);
  });
  expect_refused("lacks state.1.exp_avg_sq",
                 [](auto& s) { s.tensors.erase("state.1.exp_avg_sq"); });
  expect_refused("has state.1.exp_avg, but no step",
                 [](auto& s) { s.numbers.erase("state.1.step"); });
  expect_refused("\"state.2.step\"", [](auto& s) { s.numbers.insert("state.2.step", 1.0); });
  expect_refused("\"state.0.velocity\"",
                 [](auto& s) { s.tensors.insert("state.0.velocity", numbered({3})); });
  expect_refused("\"param_groups.0.momentum\"",
                 [](auto& s) { s.numbers.insert("param_groups.0.momentum", 0.5); });
  expect_refused("state.1.step of -1", [](auto& s) { s.numbers["state.1.step"] = -1; });
  expect_refused("Invalid learning rate: -1", [](auto& s) { s.numbers["param_groups.0.lr"] = -1; });
  adam.load_state_dict(good);
  EXPECT_EQ(adam.state(params[0]).step, 1);
  EXPECT_EQ(adam.param_groups()[0].get_lr(), 0.1);
}

TEST(OptimizerStateDict, TensorsTakeTheirParametersDtypeAndOrder) {
  const Params narrow = {leaf({2, 3})};
  Adam from(narrow, AdamOptions(0.1));
  set_gradients(narrow);
  from.step();
  const Tensor turned = empty({3, 2}, kDouble).transpose(0, 1);
  const Params wide = {turned.requires_grad_()};
  Adam to(wide, AdamOptions(0.1));
  to.load_state_dict(from.state_dict());
  const Tensor& state = to.state(wide[0]).tensors[0];
  EXPECT_EQ(state.dtype(), kDouble);
  EXPECT_EQ(state.strides(), wide[0].strides());
  EXPECT_EQ(values(state), values(from.state(narrow[0]).tensors[0]));
}

}  // namespace
}  // namespace taeda::optim

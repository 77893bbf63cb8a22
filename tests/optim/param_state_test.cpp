// States by their names, as programs written for libtorch find and make them; LBFGS.
#include "taeda/optim/param_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "taeda/io/keyed_archive.h"
#include "taeda/io/serialize.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/averaging_rules.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;

Tensor ramp(int64_t n) { return arange(n).to(kDouble).add(1).mul(0.25); }

std::vector<Tensor> with_gradients() {
  std::vector<Tensor> params = {ramp(3).requires_grad_(), ramp(4).requires_grad_()};
  for (Tensor& p : params) p.mutable_grad() = p.detach().mul(0.5);
  return params;
}

TEST(ParamState, IsFoundByTheParameterAndRead) {
  const std::vector<Tensor> params = with_gradients();
  Adam adam(params, AdamOptions(0.1).amsgrad(true));
  EXPECT_TRUE(adam.state().empty()) << "before the first step";
  adam.step();
  ASSERT_EQ(adam.state().size(), 2u);
  auto& state = static_cast<AdamParamState&>(*adam.state().at(params[0].unsafe_impl()));
  EXPECT_EQ(state.step(), 1);
  EXPECT_TRUE(allclose(state.exp_avg(), params[0].grad().mul(0.1)));
  EXPECT_TRUE(state.max_exp_avg_sq().defined());
  state.step(7).exp_avg(zeros({3}, kDouble));
  adam.step();
  EXPECT_EQ(adam.state(params[0]).step, 8);
  EXPECT_TRUE(allclose(state.exp_avg(), params[0].grad().mul(0.1)));
}

TEST(ParamState, KeysAreAddressesAlsoAsTexts) {
  const std::vector<Tensor> params = with_gradients();
  SGD sgd(params, SGDOptions(0.1).momentum(0.9));
  sgd.step();
  std::ostringstream key;
  key << static_cast<const void*>(params[1].unsafe_impl());
  ASSERT_EQ(sgd.state().count(key.str()), 1u);
  const auto& state = static_cast<const SGDParamState&>(*sgd.state().at(key.str()));
  EXPECT_TRUE(state.momentum_buffer().equal(params[1].grad()));
  EXPECT_THAT(error_of([&] { sgd.state().at(std::string("layer")); }), HasSubstr("'layer'"));
  EXPECT_THAT(error_of([&] { sgd.state().at(nullptr); }), HasSubstr("no state for the given"));
  EXPECT_EQ(sgd.state().erase(key.str()), 1u);
  EXPECT_EQ(sgd.state().size(), 1u);
}

TEST(ParamState, ClonesAndArchivesKeepTheClass) {
  const std::vector<Tensor> params = with_gradients();
  RMSprop optimizer(params, RMSpropOptions(0.1).momentum(0.5));
  optimizer.step();
  const auto copy = optimizer.state().at(params[0].unsafe_impl())->clone();
  const auto* state = dynamic_cast<const RMSpropParamState*>(copy.get());
  ASSERT_NE(state, nullptr);
  serialize::OutputArchive out;
  state->serialize(out);
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in;
  in.load_from(stream);
  RMSpropParamState read;
  read.serialize(in);
  EXPECT_EQ(read.step(), 1);
  EXPECT_TRUE(read.square_avg().equal(state->square_avg()));
  EXPECT_TRUE(read.momentum_buffer().equal(state->momentum_buffer()));
  EXPECT_FALSE(read.grad_avg().defined());
}

/// An optimizer of a program, on nothing but the base's members.
class Halving : public Optimizer {
 public:
  struct Options : OptimizerCloneableOptions<Options> {};
  struct State : OptimizerCloneableParamState<State> {
    int halvings = 0;
  };
  explicit Halving(std::vector<Tensor> params)
      : Optimizer(std::move(params), std::make_unique<Options>()) {}
  Tensor step(LossClosure closure = nullptr) override {
    NoGradGuard no_grad;
    for (OptimizerParamGroup& group : param_groups_)
      for (Tensor& p : group.params()) {
        auto& state = state_[p.unsafe_impl()];
        if (!state) state = std::make_unique<State>();
        ++static_cast<State&>(*state).halvings;
        p.mul_(0.5);
      }
    return closure ? closure() : Tensor();
  }
};

TEST(ParamState, OptimizersOfProgramsKeepTheirOwn) {
  const std::vector<Tensor> params = with_gradients();
  Halving optimizer(params);
  optimizer.step();
  optimizer.step();
  EXPECT_EQ(static_cast<Halving::State&>(*optimizer.state().at(params[0].unsafe_impl())).halvings,
            2);
  EXPECT_TRUE(params[0].equal(ramp(3).mul(0.25)));
  EXPECT_THAT(error_of([&] { optimizer.param_groups()[0].get_lr(); }),
              HasSubstr("have no learning rate"));
}

/// What a state dict holds, as a list that compares.
std::vector<std::pair<std::string, std::vector<double>>> content(const OptimizerState& state) {
  std::vector<std::pair<std::string, std::vector<double>>> out;
  for (const auto& [name, number] : state.numbers) out.push_back({name, {number}});
  for (const auto& [name, t] : state.tensors) {
    const Tensor flat = t.detach().to(kDouble).contiguous();
    const double* data = flat.data_ptr<double>();
    out.push_back({name, std::vector<double>(data, data + flat.numel())});
  }
  return out;
}

/// Two steps, then two from what was saved, equal four steps.
template <class O, class Options>
void expect_goes_on(const Options& options) {
  const auto run = [](O& optimizer, const Tensor& p, int steps) {
    for (int i = 0; i < steps; ++i)
      optimizer.step([&] {
        optimizer.zero_grad();
        Tensor loss = (p * p * p - p).square().sum() + p.sum() * 0.1;
        loss.backward();
        return loss;
      });
  };
  const auto start = [] { return ramp(6).reshape({2, 3}).requires_grad_(); };
  const Tensor whole = start(), first = start();
  O straight({whole}, options), before({first}, options);
  run(straight, whole, 4);
  run(before, first, 2);
  std::stringstream stream;
  save(before, stream);
  const Tensor second = first.detach().clone().requires_grad_();
  O after({second}, Options());
  load(after, stream);
  EXPECT_EQ(content(after.state_dict()), content(before.state_dict()));
  run(after, second, 2);
  EXPECT_TRUE(second.equal(whole)) << after.state_dict().kind;
}

TEST(ParamState, GoesOnFromAFile) {
  expect_goes_on<Adadelta>(AdadeltaOptions(0.5));
  expect_goes_on<Adafactor>(AdafactorOptions(0.1).eps({1e-3, 1e-2}));
  expect_goes_on<Adamax>(AdamaxOptions(0.1));
  expect_goes_on<ASGD>(ASGDOptions(0.01).t0(1));
  expect_goes_on<Lion>(LionOptions(0.05));
  expect_goes_on<AdEMAMix>(AdEMAMixOptions(0.05).alpha_warmup(4).beta3_warmup(6));
  expect_goes_on<Muon>(MuonOptions(0.05).adjust_lr_fn(std::string("match_rms_adamw")));
  expect_goes_on<NAdam>(NAdamOptions(0.1));
  expect_goes_on<RAdam>(RAdamOptions(0.1));
  expect_goes_on<Rprop>(RpropOptions(0.05));
  expect_goes_on<LBFGS>(LBFGSOptions(0.5).max_iter(3).history_size(2));
  expect_goes_on<LBFGS>(LBFGSOptions().max_iter(2).line_search_fn(std::string("strong_wolfe")));
}

TEST(Optimizers, SayWhatTheyCannotWorkWith) {
  const Tensor p = ramp(3).requires_grad_();
  const auto refused = [&](auto make) { return error_of([&] { make(); }); };
  EXPECT_THAT(refused([&] { Adafactor({p}, AdafactorOptions(0.1).d(0.5)); }),
              HasSubstr("Clipping threshold d should be >= 1 but is: 0.5"));
  EXPECT_THAT(refused([&] { Lion({p}, LionOptions(-1)); }), HasSubstr("learning rate: -1"));
  EXPECT_THAT(refused([&] { Muon({p}); }),
              HasSubstr("Muon only supports 2D parameters whereas we found a parameter with size: "
                        "[3]"));
  EXPECT_THAT(refused([&] {
                NAdam({p}, NAdamOptions().betas({0.9, 1}));
              }),
              HasSubstr("Invalid beta parameter at index 1: 1"));
  EXPECT_THAT(refused([&] {
                Rprop({p}, RpropOptions().etas({1.5, 1.2}));
              }),
              HasSubstr("Invalid eta values: 1.5, 1.2"));
  EXPECT_THAT(refused([&] { LBFGS({p}).step(nullptr); }),
              HasSubstr("LBFGS requires a closure function"));
  EXPECT_THAT(refused([&] { LBFGS({p}, LBFGSOptions().line_search_fn(std::string("armijo"))); }),
              HasSubstr("only 'strong_wolfe' is supported"));
  Lion lion({p});
  p.mutable_grad() = ramp(3);
  EXPECT_THAT(refused([&] { CyclicLR(lion, {.base_lr = 0.1, .max_lr = 0.2, .step_size_up = 0}); }),
              HasSubstr("Expected positive integer step_size_up, but got 0"));
  EXPECT_THAT(refused([&] { PolynomialLR(lion, 0); }), HasSubstr("total_iters, but got 0"));
}

TEST(Averages, SwapAndGoOnFromAFile) {
  std::vector<Tensor> params = {ramp(3)};
  AveragedParameters averaged(params);
  averaged.update();
  params[0].add_(1);
  averaged.update();
  const Tensor now = params[0].clone();
  averaged.swap();
  EXPECT_TRUE(allclose(params[0], ramp(3).add(0.5)));
  averaged.swap();
  EXPECT_TRUE(params[0].equal(now));
  AveragedParameters other(params);
  other.load_state_dict(averaged.state_dict());
  EXPECT_EQ(other.updates(), 2);
  EXPECT_TRUE(other.averages()[0].equal(averaged.averages()[0]));
  other.copy_to_params();
  EXPECT_TRUE(params[0].equal(averaged.averages()[0]));
  AveragedParameters more({ramp(2), ramp(3)});
  EXPECT_THAT(error_of([&] { more.load_state_dict(averaged.state_dict()); }),
              HasSubstr("not one of 2 averaged parameters"));
}

TEST(Averages, OfWholeNumbersAndOtherDtypes) {
  const Tensor count = tensor({10, 7}, kLong), mean = tensor({1.0, 3.0}, kDouble);
  move_averages({count, mean}, {tensor({20, 8}, kLong), tensor({2.0f, 5.0f})}, 0.25);
  EXPECT_TRUE(count.equal(tensor({12, 7}, kLong)));
  EXPECT_TRUE(mean.equal(tensor({1.25, 3.5}, kDouble)));
}

TEST(Averages, AreLeftAloneByValuesThatDoNotFit) {
  const std::vector<Tensor> averages = {ramp(3), ramp(2)};
  EXPECT_THAT(error_of([&] {
                move_averages(averages, {ramp(3).add(1), ramp(4)}, 0.5);
              }),
              HasSubstr("expected value 1 to be of shape [2] like its average, but got [4]"));
  EXPECT_THAT(error_of([&] { move_averages(averages, {ramp(3)}, 0.5); }),
              HasSubstr("expected as many values as the 2 averages, but got 1"));
  EXPECT_THAT(error_of([&] { move_averages(averages, averages, std::nan("")); }),
              HasSubstr("Expected a number as weight, but got nan"));
  EXPECT_TRUE(averages[0].equal(ramp(3)));
  const std::vector<Tensor> params = {ramp(3), ramp(2)};
  AveragedParameters averaged(params);
  averaged.update();
  params[0].add_(1);
  params[1].set_data(ramp(4));
  EXPECT_THAT(error_of([&] { averaged.update(); }), HasSubstr("expected value 1"));
  EXPECT_EQ(averaged.updates(), 1);
  EXPECT_TRUE(averaged.averages()[0].equal(ramp(3)));
}

}  // namespace
}  // namespace taeda::optim

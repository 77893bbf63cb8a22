// Optimizers and schedules with numbers that are none, out of range, or not there.
#include "tests/wrong_calls.h"

#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/optim.h"

namespace taeda::wrong {
namespace {

using Params = std::vector<Tensor>;
using Schedulers = std::vector<std::shared_ptr<optim::LRScheduler>>;

Tensor weight() { return rand({2}).requires_grad_(); }
Params twice() {
  Tensor w = weight();
  return {w, w};
}
optim::SGD& sgd() {
  static optim::SGD optimizer(Params{weight()}, 0.1);
  return optimizer;
}
template <class Change>
void one_cycle(const Change& change) {
  static optim::SGD with_momentum(Params{weight()}, optim::SGDOptions(0.1).momentum(0.9));
  optim::OneCycleLROptions options{.max_lr = 0.1, .total_steps = 9};
  change(options);
  optim::OneCycleLR(with_momentum, options);
}

template <class E, class Call>
void expect_refused(const Call& call, const std::string& words) {
  SCOPED_TRACE(words);
  try {
    call();
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_STREQ(typeid(e).name(), typeid(E).name());
    EXPECT_THAT(e.what(), ::testing::HasSubstr(words));
  }
}

/// What every optimizer refuses: `good` are its options, `numbers` those that must be 0 at least.
template <class Optimizer, class Options>
struct Refusals {
  struct Number {
    const char* refusal;
    Options& (Options::*set)(const double&);
  };
  void check(const char* name, const std::vector<Number>& numbers) const {
    SCOPED_TRACE(name);
    for (const Number& number : numbers)
      for (const double wrong : {-0.1, kNaN, -HUGE_VAL})
        expect_refused<ValueError>([&] { make((Options(good).*number.set)(wrong)); },
                                   taeda::detail::concat(number.refusal, wrong));
    const auto refuse = [&](const Params& params, const char* words) {
      expect_refused<ValueError>([&] { Optimizer(params, good); }, words);
    };
    refuse({}, "optimizer got an empty parameter list");
    refuse({Tensor()}, "optimizer can only optimize Tensors, but one of the params is undefined");
    refuse({weight() * 2}, "can't optimize a non-leaf Tensor");
    refuse(twice(), "some parameters appear in more than one parameter group");
    expect_refused<Error>(
        [&] {
          Optimizer(Params{weight(), weight()}, good).state(rand({2}));
        },
        "this optimizer does not hold the given parameter");
    expect_refused<ValueError>(
        [&] {
          make(good).load_state_dict({"Nothing", {}, {}});
        },
        taeda::detail::concat("loaded state dict is that of an optimizer of "
                              "class Nothing, but this one is of class ",
                              name));
  }
  void check_betas() const {
    const auto refuse = [&](double beta1, double beta2, const char* words) {
      expect_refused<ValueError>(
          [&] {
            make(Options(good).betas({beta1, beta2}));
          },
          taeda::detail::concat("Invalid beta parameter at index ", words));
    };
    refuse(-0.1, 0.9, "0: -0.1");
    refuse(1.0, 0.9, "0: 1");
    refuse(0.9, 1.0, "1: 1");
    refuse(0.9, kNaN, "1: nan");
    refuse(kNaN, 0.9, "0: nan");
    refuse(2.0, 0.9, "0: 2");
  }
  static Optimizer make(const Options& options) { return Optimizer(Params{weight()}, options); }
  Options good = {};
};

template <class Optimizer, class Options>
void check_adam(const char* name) {
  using Checked = Refusals<Optimizer, Options>;
  Checked().check(name, {{"Invalid learning rate: ", &Options::lr},
                         {"Invalid epsilon value: ", &Options::eps},
                         {"Invalid weight_decay value: ", &Options::weight_decay}});
  Checked().check_betas();
}

TEST(WrongCallsOfOptimizers, OfEachAreRefused) {
  using SGD = optim::SGDOptions;
  using RMSprop = optim::RMSpropOptions;
  using Adagrad = optim::AdagradOptions;
  Refusals<optim::SGD, SGD>{SGD(0.1)}.check("SGD",
                                            {{"Invalid learning rate: ", &SGD::lr},
                                             {"Invalid momentum value: ", &SGD::momentum},
                                             {"Invalid weight_decay value: ", &SGD::weight_decay}});
  Refusals<optim::RMSprop, RMSprop>().check(
      "RMSprop", {{"Invalid learning rate: ", &RMSprop::lr},
                  {"Invalid alpha value: ", &RMSprop::alpha},
                  {"Invalid epsilon value: ", &RMSprop::eps},
                  {"Invalid weight_decay value: ", &RMSprop::weight_decay},
                  {"Invalid momentum value: ", &RMSprop::momentum}});
  Refusals<optim::Adagrad, Adagrad>().check(
      "Adagrad",
      {{"Invalid learning rate: ", &Adagrad::lr},
       {"Invalid lr_decay value: ", &Adagrad::lr_decay},
       {"Invalid weight_decay value: ", &Adagrad::weight_decay},
       {"Invalid initial_accumulator_value value: ", &Adagrad::initial_accumulator_value},
       {"Invalid epsilon value: ", &Adagrad::eps}});
  check_adam<optim::Adam, optim::AdamOptions>("Adam");
  check_adam<optim::AdamW, optim::AdamWOptions>("AdamW");
  check_adam<optim::Adamax, optim::AdamaxOptions>("Adamax");
  check_adam<optim::NAdam, optim::NAdamOptions>("NAdam");
  check_adam<optim::RAdam, optim::RAdamOptions>("RAdam");
}

const std::vector<Row> wrong_optimizers = {
    REFUSED(ValueError, optim::SGD(Params{weight()}, optim::SGDOptions(0.1).nesterov(true)),
            "Nesterov momentum requires a momentum and zero dampening"),
    REFUSED(ValueError,
            optim::SGD(Params{weight()},
                       optim::SGDOptions(0.1).nesterov(true).momentum(0.9).dampening(0.1)),
            "Nesterov momentum requires a momentum and zero dampening"),
    REFUSED(ValueError, optim::StepLR(sgd(), 0), "Expected positive integer step_size, but got 0"),
    REFUSED(ValueError, optim::StepLR(sgd(), -1),
            "Expected positive integer step_size, but got -1"),
    REFUSED(ValueError, optim::StepLR(sgd(), 1, kNaN), "Expected a number as gamma, but got nan"),
    ACCEPTED(optim::StepLR(sgd(), 1, -1), "PyTorch accepts it"),
    ACCEPTED(optim::MultiStepLR(sgd(), {3, 1}), "PyTorch accepts it"),
    ACCEPTED(optim::MultiStepLR(sgd(), {}), "PyTorch accepts it"),
    REFUSED(ValueError, optim::MultiStepLR(sgd(), {1}, kNaN),
            "Expected a number as gamma, but got nan"),
    REFUSED(ValueError, optim::ExponentialLR(sgd(), kNaN),
            "Expected a number as gamma, but got nan"),
    ACCEPTED(optim::ExponentialLR(sgd(), -1), "PyTorch accepts it"),
    REFUSED(ValueError, optim::CosineAnnealingLR(sgd(), 0),
            "Expected positive integer T_max, but got 0"),
    REFUSED(ValueError, optim::CosineAnnealingLR(sgd(), -5),
            "Expected positive integer T_max, but got -5"),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0),
            "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), -1),
            "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), 2),
            "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), kNaN),
            "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0.5, 2),
            "Ending multiplicative factor expected to be between 0 and 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0.5, -1),
            "Ending multiplicative factor expected to be between 0 and 1."),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0.5, kNaN),
            "Ending multiplicative factor expected to be between 0 and 1."),
    REFUSED(ValueError, optim::LambdaLR(sgd(), optim::LambdaLR::Function()),
            "Expected a function as lr_lambda, but got an empty one"),
    REFUSED(ValueError, optim::LambdaLR(sgd(), std::vector<optim::LambdaLR::Function>{}),
            "Expected 1 lr_lambdas, but got 0"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), kNaN, 10),
            "Expected a number as max_lr, but got nan"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), 0.1, 0),
            "You must define either total_steps OR (epochs AND steps_per_epoch)"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), 0.1, -10),
            "Expected positive integer total_steps, but got -10"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), {.max_lr = 0.1}),
            "You must define either total_steps OR (epochs AND steps_per_epoch)"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), {.max_lr = 0.1, .epochs = 2}),
            "Expected positive integer steps_per_epoch, but got 0"),
    REFUSED(ValueError,
            optim::OneCycleLR(sgd(), {.max_lr = 0.1, .epochs = -2, .steps_per_epoch = 3}),
            "Expected positive integer epochs, but got -2"),
    REFUSED(ValueError,
            optim::OneCycleLR(sgd(), {.max_lr = 0.1, .total_steps = 9, .pct_start = 1.5}),
            "Expected float between 0 and 1 pct_start, but got 1.5"),
    REFUSED(ValueError,
            optim::OneCycleLR(sgd(), {.max_lr = 0.1, .total_steps = 9, .pct_start = -0.5}),
            "Expected float between 0 and 1 pct_start, but got -0.5"),
    REFUSED(ValueError,
            optim::OneCycleLR(sgd(), {.max_lr = 0.1, .total_steps = 9, .pct_start = kNaN}),
            "Expected float between 0 and 1 pct_start, but got nan"),
    REFUSED(ValueError, optim::OneCycleLR(sgd(), {.max_lr = {0.1, 0.2}, .total_steps = 9}),
            "expected 1 values for max_lr, got 2"),
    REFUSED(ValueError, optim::SequentialLR(sgd(), {}, {}),
            "Sequential Schedulers expects number of schedulers provided to be one more than the"),
    REFUSED(ValueError, optim::SequentialLR(sgd(), Schedulers{nullptr}, {}),
            "Sequential Schedulers got no scheduler at index 0"),
    REFUSED(
        ValueError,
        optim::SequentialLR(sgd(), Schedulers{std::make_shared<optim::StepLR>(sgd(), 1)}, {1, 2}),
        "Sequential Schedulers expects number of schedulers provided to be one more than the"),
    REFUSED(ValueError, optim::CosineAnnealingLR(sgd(), 5, kNaN),
            "Expected a number as eta_min, but got nan"),
    REFUSED(ValueError, optim::CosineAnnealingWarmRestarts(sgd(), 5, 1, kNaN),
            "Expected a number as eta_min, but got nan"),
    REFUSED(ValueError, optim::CosineAnnealingWarmRestarts(sgd(), 0),
            "Expected positive integer T_0, but got 0"),
    REFUSED(ValueError, optim::CosineAnnealingWarmRestarts(sgd(), 5, 0),
            "Expected integer T_mult >= 1, but got 0"),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0.5, 1, 0),
            "Expected positive integer total_iters, but got 0"),
    REFUSED(ValueError, optim::LinearLR(sgd(), 0.5, 1, -3),
            "Expected positive integer total_iters, but got -3"),
    REFUSED(ValueError, optim::ConstantLR(sgd(), 0.5, 0),
            "Expected positive integer total_iters, but got 0"),
    REFUSED(ValueError, optim::ConstantLR(sgd(), kNaN),
            "Constant multiplicative factor expected to be between 0 and 1, got nan"),
    REFUSED(ValueError, optim::PolynomialLR(sgd(), 0),
            "Expected positive integer total_iters, but got 0"),
    REFUSED(ValueError, optim::PolynomialLR(sgd(), 5, kNaN),
            "Expected a number as power, but got nan"),
    REFUSED(ValueError, one_cycle([](auto& o) { o.base_momentum(kNaN); }),
            "Expected a number as base_momentum, but got nan"),
    REFUSED(ValueError, one_cycle([](auto& o) { o.max_momentum(kNaN); }),
            "Expected a number as max_momentum, but got nan"),
    REFUSED(ValueError, one_cycle([](auto& o) { o.div_factor(0); }),
            "Expected div_factor and final_div_factor above 0, but got 0"),
    REFUSED(ValueError, one_cycle([](auto& o) { o.final_div_factor(kNaN); }),
            "Expected div_factor and final_div_factor above 0, but got nan"),
    REFUSED(Error,
            one_cycle([](auto& o) { o.total_steps = 0, o.epochs = kHuge, o.steps_per_epoch = 9; }),
            "OneCycleLR: integer overflow"),
    REFUSED(ValueError, optim::ReduceLROnPlateauScheduler(sgd(), {.factor = kNaN}),
            "Factor should be < 1.0, but got nan"),
    REFUSED(ValueError, optim::ReduceLROnPlateauScheduler(sgd(), {.factor = 2}),
            "Factor should be < 1.0, but got 2"),
    REFUSED(ValueError, optim::ReduceLROnPlateauScheduler(sgd(), {.min_lr = {kNaN}}),
            "Expected a number as min_lr, but got nan"),
    REFUSED(ValueError, optim::ReduceLROnPlateauScheduler(sgd(), {.threshold = kNaN}),
            "Expected a number as threshold, but got nan"),
    REFUSED(ValueError, optim::ReduceLROnPlateauScheduler(sgd(), {.eps = kNaN}),
            "Expected a number as eps, but got nan"),
    ACCEPTED(optim::ReduceLROnPlateauScheduler(sgd()).step(kNaN), "PyTorch accepts it: no gain"),
    REFUSED(Error, optim::StepLR(sgd(), 1).load_state_dict({}), "Key 'last_epoch' is not defined"),
    REFUSED(ValueError, optim::StepLR(sgd(), 1).load_state_dict({{"last_epoch", kNaN}}),
            "Expected a number as last_epoch, but got nan"),
    REFUSED(ValueError, optim::ChainedScheduler({}),
            "ChainedScheduler expects at least one scheduler to be chained, but got none"),
    REFUSED(ValueError, optim::ChainedScheduler(Schedulers{nullptr}),
            "ChainedScheduler: no scheduler at index 0"),
};

TEST(WrongCallsOfOptimizers, AreRefused) { check(wrong_optimizers); }

}  // namespace
}  // namespace taeda::wrong

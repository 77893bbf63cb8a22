// Options, states and closures of the newer optimizers that make no sense.
#include <deque>

#include "taeda/taeda.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {
namespace {

using Tensors = std::vector<Tensor>;

Tensor leaf() { return rand({2}).requires_grad_(); }
Tensor leaf_matrix() { return rand({2, 2}).requires_grad_(); }
Tensor no_loss() { return {}; }
/// An optimizer that nobody else has.
optim::SGD& an_sgd(double momentum = 0) {
  static std::deque<optim::SGD> all;
  return all.emplace_back(Tensors{leaf()}, optim::SGDOptions(0.1).momentum(momentum));
}

optim::LBFGS lbfgs(const optim::LBFGSOptions& options = {}) {
  return optim::LBFGS(Tensors{leaf()}, options);
}

/// A step whose loss has the factor `scale`.
template <class O>
void take_step(O&& o, double scale = 1) {
  o.step([&] {
    o.zero_grad();
    const Tensor loss = o.parameters()[0].pow(2).sum() * scale;
    loss.backward();
    return loss;
  });
}

/// Loads the state of an optimizer that has made a step, or of averages, after a change.
template <class O, class F>
void reload_changed(const F& change) {
  O o(Tensors{leaf()});
  if constexpr (requires { o.zero_grad(); }) take_step(o);
  auto state = o.state_dict();
  change(state);
  o.load_state_dict(state);
}
/// ... with other numbers.
template <class O>
void reload(double number) {
  reload_changed<O>([&](auto& state) {
    for (auto& item : state.numbers) item.value() = number;
  });
}
/// ... with other tensors.
template <class O>
void reload(Tensor (*change)(const Tensor&)) {
  reload_changed<O>([&](auto& state) {
    for (auto& item : state.tensors) item.value() = change(item.value());
  });
}

const std::vector<Row> kRows = {
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(kNaN)),
            "Invalid learning rate: nan"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(-1)),
            "Invalid learning rate: -1"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).max_iter(-1)),
            "Invalid max_iter value: -1"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).max_iter(0)),
            "Invalid max_iter value: 0"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).history_size(-1)),
            "Invalid history_size value: -1"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).history_size(0)),
            "Invalid history_size value: 0"),
    REFUSED(ValueError, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).tolerance_grad(kNaN)),
            "Invalid tolerance_grad value: nan"),
    REFUSED(ValueError,
            optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).tolerance_change(kNaN)),
            "Invalid tolerance_change value: nan"),
    REFUSED(Error, optim::LBFGS(Tensors{leaf()}, optim::LBFGSOptions(1).line_search_fn("guess")),
            "only 'strong_wolfe' is supported for line_search_fn, but got 'guess'"),
    REFUSED(Error, optim::LBFGS(Tensors{leaf()}).step(nullptr),
            "LBFGS requires a closure function"),
    REFUSED(Error, optim::LBFGS(Tensors{leaf()}).step(no_loss),
            "LBFGS: the closure returned no loss"),
    REFUSED(Error, optim::LBFGS(Tensors{leaf()}).step([] { return rand({2}); }),
            "a Tensor with 2 elements cannot be converted to Scalar"),
    ACCEPTED(take_step(lbfgs(), kNaN), "ends the step, as in PyTorch"),
    ACCEPTED(take_step(lbfgs(optim::LBFGSOptions().line_search_fn("strong_wolfe")), kNaN),
             "ends the step, as in PyTorch"),
    REFUSED(ValueError, take_step(lbfgs(optim::LBFGSOptions().history_size(0))),
            "Invalid history_size value: 0"),
    REFUSED(ValueError,
            optim::LBFGS(std::vector<optim::OptimizerParamGroup>{
                optim::OptimizerParamGroup(Tensors{leaf()}),
                optim::OptimizerParamGroup(Tensors{leaf()})}),
            "LBFGS doesn't support per-parameter options (parameter groups)"),
    REFUSED(
        ValueError,
        [] {
          optim::LBFGS o(Tensors{leaf()});
          auto s = o.state_dict();
          s.numbers.insert("n_iter", kNaN);
          o.load_state_dict(s);
        }(),
        "loaded state dict has \"n_iter\", for which this LBFGS has no place"),
    REFUSED(ValueError, reload<optim::LBFGS>(kNaN),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, reload<optim::LBFGS>(1e300),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, reload<optim::LBFGS>([](const Tensor&) { return rand({7}); }),
            "loaded state dict has state.d of shape [7] for 2 numbers of parameters"),
    REFUSED(Error, reload<optim::LBFGS>([](const Tensor&) { return Tensor(); }),
            "optim::LBFGS::load_state_dict(): Expected a tensor, but got an undefined"),
    REFUSED(ValueError, reload<optim::Adam>(kNaN),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, reload<optim::Adam>(1e300),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, reload<optim::Adam>(-5),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, reload<optim::Adam>([](const Tensor&) { return rand({7}); }),
            "loaded state dict has state.0.exp_avg of shape [7] for a parameter of shape"),
    REFUSED(Error, reload<optim::Adam>([](const Tensor&) { return Tensor(); }),
            "optim::Optimizer::load_state_dict(): Expected a tensor, but got an"),
    REFUSED(ValueError, reload<optim::Adam>([](const Tensor& t) { return t.to(kComplexFloat); }),
            "loaded state dict has state.0.exp_avg of dtype ComplexFloat"),
    REFUSED(ValueError, reload<optim::NAdam>(kNaN),
            "loaded state dict contains a parameter group that doesn't match the size of"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf()}),
            "Muon only supports 2D parameters whereas we found a parameter with size: [2]"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions(kNaN)),
            "Learning rate should be >= 0 but is: nan"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().momentum(kNaN)),
            "momentum should be >= 0 but is: nan"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().momentum(-1)),
            "momentum should be >= 0 but is: -1"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().weight_decay(-1)),
            "weight decay should be >= 0 but is: -1"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().ns_steps(-1)),
            "Number of steps must be less than 100 for computational efficiency, got -1"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().ns_steps(kHuge)),
            "Number of steps must be less than 100 for computational efficiency, got"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().eps(kNaN)),
            "eps should be >= 0 but is: nan"),
    REFUSED(ValueError, optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().adjust_lr_fn("x")),
            "Adjust learning rate function x is not supported"),
    REFUSED(ValueError,
            optim::Muon(Tensors{leaf_matrix()}, optim::MuonOptions().ns_coefficients({kNaN, 1, 1})),
            "ns_coefficients should be numbers but are: nan, 1, 1"),
    REFUSED(ValueError, optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions(kNaN)),
            "Learning rate should be >= 0 but is: nan"),
    REFUSED(ValueError,
            optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().beta2_decay(0.5)),
            "beta2_decay should be <= 0 but is: 0.5"),
    REFUSED(ValueError,
            optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().beta2_decay(kNaN)),
            "beta2_decay should be <= 0 but is: nan"),
    REFUSED(ValueError, optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().d(0)),
            "Clipping threshold d should be >= 1 but is: 0"),
    REFUSED(ValueError, optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().d(kNaN)),
            "Clipping threshold d should be >= 1 but is: nan"),
    REFUSED(ValueError, optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().eps({-1.0, 1})),
            "epsilon1 should be >= 0 but is: -1"),
    REFUSED(ValueError,
            optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().eps({kNaN, kNaN})),
            "epsilon1 should be >= 0 but is: nan"),
    REFUSED(ValueError,
            optim::Adafactor(Tensors{leaf()}, optim::AdafactorOptions().weight_decay(kNaN)),
            "weight_decay should be >= 0 but is: nan"),
    REFUSED(ValueError, optim::Lion(Tensors{leaf()}, optim::LionOptions(kNaN)),
            "Invalid learning rate: nan"),
    REFUSED(ValueError, optim::Lion(Tensors{leaf()}, optim::LionOptions().betas({1, 0.5})),
            "Invalid beta parameter at index 0: 1"),
    REFUSED(ValueError, optim::Lion(Tensors{leaf()}, optim::LionOptions().betas({kNaN, 0.5})),
            "Invalid beta parameter at index 0: nan"),
    REFUSED(ValueError, optim::SparseAdam(Tensors{leaf()}, optim::SparseAdamOptions(0)),
            "Invalid learning rate: 0"),
    REFUSED(ValueError, optim::SparseAdam(Tensors{leaf()}, optim::SparseAdamOptions().eps(kNaN)),
            "Invalid epsilon value: nan"),
    REFUSED(
        Error,
        [] {
          Tensor p = leaf();
          optim::SparseAdam o(Tensors{p});
          p.sum().backward();
          o.step();
        }(),
        "SparseAdam does not support dense gradients, please consider Adam instead"),
    REFUSED(ValueError, optim::Adamax(Tensors{leaf()}, optim::AdamaxOptions().eps(-1)),
            "Invalid epsilon value: -1"),
    REFUSED(ValueError, optim::NAdam(Tensors{leaf()}, optim::NAdamOptions().momentum_decay(kNaN)),
            "Invalid momentum_decay value: nan"),
    REFUSED(ValueError, optim::NAdam(Tensors{leaf()}, optim::NAdamOptions().momentum_decay(-1)),
            "Invalid momentum_decay value: -1"),
    REFUSED(ValueError, optim::RAdam(Tensors{leaf()}, optim::RAdamOptions().betas({0.9, 1})),
            "Invalid beta parameter at index 1: 1"),
    REFUSED(ValueError, optim::Adadelta(Tensors{leaf()}, optim::AdadeltaOptions().rho(2)),
            "Invalid rho value: 2"),
    REFUSED(ValueError, optim::Adadelta(Tensors{leaf()}, optim::AdadeltaOptions().rho(kNaN)),
            "Invalid rho value: nan"),
    REFUSED(ValueError, optim::Rprop(Tensors{leaf()}, optim::RpropOptions().etas({2, 1})),
            "Invalid eta values: 2, 1"),
    REFUSED(ValueError, optim::Rprop(Tensors{leaf()}, optim::RpropOptions().etas({kNaN, 2})),
            "Invalid eta values: nan, 2"),
    REFUSED(ValueError, optim::Rprop(Tensors{leaf()}, optim::RpropOptions().step_sizes({1, 0})),
            "Invalid step sizes: 1, 0"),
    REFUSED(ValueError,
            optim::Rprop(Tensors{leaf()}, optim::RpropOptions().step_sizes({kNaN, kNaN})),
            "Invalid step sizes: nan, nan"),
    REFUSED(ValueError, optim::ASGD(Tensors{leaf()}, optim::ASGDOptions().lambd(kNaN)),
            "Invalid lambd value: nan"),
    REFUSED(ValueError, optim::ASGD(Tensors{leaf()}, optim::ASGDOptions().alpha(kNaN)),
            "Invalid alpha value: nan"),
    REFUSED(ValueError, optim::ASGD(Tensors{leaf()}, optim::ASGDOptions().t0(kNaN)),
            "Invalid t0 value: nan"),
    REFUSED(ValueError, optim::ASGD(Tensors{leaf()}, optim::ASGDOptions().weight_decay(-1)),
            "Invalid weight_decay value: -1"),
    REFUSED(ValueError, optim::AveragedParameters(Tensors{}),
            "AveragedParameters got an empty list of parameters"),
    REFUSED(Error, optim::AveragedParameters(Tensors{Tensor()}),
            "detach(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(ValueError, optim::AveragedParameters(Tensors{leaf()}, nullptr),
            "AveragedParameters: expected a function as weight, but got an empty one"),
    REFUSED(
        ValueError,
        [] {
          optim::AveragedParameters a(Tensors{leaf()}, nullptr);
          a.update();
          a.update();
        }(),
        "AveragedParameters: expected a function as weight, but got an empty one"),
    REFUSED(
        ValueError,
        [] {
          optim::AveragedParameters a(Tensors{leaf()}, [](int64_t) { return kNaN; });
          a.update();
          a.update();
        }(),
        "Expected a number as weight, but got nan"),
    REFUSED(ValueError, optim::AveragedParameters::ema(Tensors{leaf()}, kNaN),
            "Invalid decay value nan. Please provide a value in [0,1] range."),
    REFUSED(ValueError, optim::AveragedParameters::ema(Tensors{leaf()}, 2),
            "Invalid decay value 2. Please provide a value in [0,1] range."),
    REFUSED(ValueError, reload<optim::AveragedParameters>(kNaN),
            "loaded state dict has n_averaged nan"),
    REFUSED(ValueError, reload<optim::AveragedParameters>(1e300),
            "loaded state dict has n_averaged 1e+300"),
    REFUSED(ValueError, reload<optim::AveragedParameters>(-3),
            "loaded state dict has n_averaged -3"),
    REFUSED(Error, reload<optim::AveragedParameters>([](const Tensor&) { return Tensor(); }),
            "optim::AveragedParameters::load_state_dict(): Expected a tensor, but got an"),
    REFUSED(ValueError, optim::SWALR(an_sgd(), kNaN).step(),
            "the learning rate of group 0 in epoch 1 is not a number: it follows from"),
    REFUSED(ValueError, optim::SWALR(an_sgd(), 0.1, -1),
            "anneal_epochs must be equal or greater than 0, got -1"),
    REFUSED(ValueError, optim::MultiplicativeLR(an_sgd(), [](int64_t) { return kNaN; }).step(),
            "the learning rate of group 0 in epoch 1 is not a number: it follows from"),
    REFUSED(ValueError, optim::MultiplicativeLR(an_sgd(), optim::MultiplicativeLR::Function()),
            "Expected a function as lr_lambda, but got an empty one"),
    REFUSED(ValueError, optim::CyclicLR(an_sgd(0.9), kNaN, 1),
            "Expected a number as base_lr, but got nan"),
    REFUSED(ValueError, optim::CyclicLR(an_sgd(0.9),
                                        {.base_lr = 0.1, .max_lr = 1, .step_size_up = 0}),
            "Expected positive integer step_size_up, but got 0"),
    REFUSED(
        ValueError,
        optim::CyclicLR(an_sgd(0.9), {.base_lr = 0.1, .max_lr = 1, .step_size_up = -3}),
        "Expected positive integer step_size_up, but got -3"),
    REFUSED(
        ValueError,
        optim::CyclicLR(an_sgd(0.9), {.base_lr = 0.1, .max_lr = 1, .step_size_down = 0}).step(),
        "Expected positive integer step_size_down, but got 0"),
    REFUSED(ValueError, optim::CyclicLR(an_sgd(0.9), {.base_lr = 0.1, .max_lr = 1, .gamma = kNaN}),
            "Expected a number as gamma, but got nan"),
    REFUSED(
        ValueError,
        optim::CyclicLR(an_sgd(0.9), {.base_lr = 0.1, .max_lr = 1, .base_momentum = kNaN}),
        "Expected a number as base_momentum, but got nan"),
    ACCEPTED(an_sgd().add_param_group(optim::OptimizerParamGroup(Tensors{})), "None"),
    REFUSED(
        TypeError,
        an_sgd().add_param_group(
            optim::OptimizerParamGroup(Tensors{leaf()}, std::make_unique<optim::AdamOptions>())),
        "SGD: a parameter group has the options of another optimizer"),
    REFUSED(
        Error,
        [] {
          DeviceGraph g(kCPU);
          optim::Adam o(Tensors{leaf()});
          Tensor p = o.param_groups()[0].params()[0];
          p.sum().backward();
          GraphCapture c(g);
          o.step();
        }(),
        "an optimizer's first step cannot be captured, because it makes the state"),
};

TEST(WrongStates, AreRefused) { check(kRows); }

}  // namespace
}  // namespace taeda::wrong

// Steps and searches of a rate that cannot be.
#include "tests/wrong_calls.h"

#include "taeda/taeda.h"
#include "taeda/training/rate_finder.h"
#include "taeda/training/trainer.h"

namespace taeda::wrong {
namespace {

using Loss = std::function<Tensor()>;
constexpr auto kNoGradient =
    "element 0 of tensors does not require grad and does not have a grad_fn";

/// What is trained, and how.
template <class Optimizer = optim::SGD>
struct Parts {
  explicit Parts(nn::Linear of = nn::Linear(2, 1)) : model(std::move(of)) {}
  nn::Linear model;
  nn::Linear steps{2, 1};  ///< whose parameters the optimizer has where the model is another
  Optimizer optimizer{(model.is_empty() ? steps : model)->parameters(), 0.1};
};

Tensor loss_of(nn::Linear model) { return model->forward(rand({2})).sum(); }

/// A Trainer, which makes a step with `loss` if there is one.
void train(training::TrainerOptions options, const Tensor* loss = nullptr) {
  Parts<> parts;
  training::Trainer trainer(parts.model, parts.optimizer, options);
  if (loss) trainer.step(*loss);
}
void step(const Tensor& loss) { train({}, &loss); }

/// A search with `loss`, or with the model's.
void search(training::RateFinderOptions options) {
  Parts<> parts;
  find_rate(
      parts.model, parts.optimizer, [&] { return loss_of(parts.model); }, options);
}
void search_by(const Loss& loss) {
  Parts<> parts;
  training::find_rate(parts.model, parts.optimizer, loss);
}

const std::vector<Row> wrong_training = {
    REFUSED(ValueError, train({.max_norm = kNaN}),
            "Trainer: expected a max_norm above 0, but got nan"),
    REFUSED(ValueError, train({.max_norm = -1}),
            "Trainer: expected a max_norm above 0, but got -1"),
    REFUSED(ValueError, train({.accumulate = 0}),
            "Trainer: expected accumulate to be at least 1, but got 0"),
    REFUSED(Error, step(Tensor()), kNoGradient),
    REFUSED(Error, step(rand({2})), kNoGradient),
    REFUSED(Error, step(scalar_tensor(1.0)), kNoGradient),
    REFUSED(
        ValueError,
        [] {
          Parts<> others;
          optim::StepLR schedule(others.optimizer, 1);
          train({.schedule = &schedule});
        }(),
        "Trainer: the schedule is of another optimizer"),
    REFUSED(
        Error,
        [] {
          Parts<optim::LBFGS> parts;
          training::Trainer(parts.model, parts.optimizer).step(loss_of(parts.model));
        }(),
        "LBFGS requires a closure function"),
    REFUSED(
        Error,
        [] {
          Parts<> parts;
          nn::Linear other(2, 1);
          training::Trainer(parts.model, parts.optimizer).step(loss_of(other));
        }(),
        "Trainer: no parameter of the optimizer got a gradient"),
    REFUSED(
        Error,
        [] {
          Parts<> parts(nullptr);
          training::Trainer(parts.model, parts.optimizer);
        }(),
        "Accessing empty ModuleHolder"),
    ACCEPTED(
        [] {
          Parts<> parts;
          training::Trainer t(parts.model, parts.optimizer, {.accumulate = INT64_MAX});
          t.step(loss_of(parts.model));
          t.finish();
        }(),
        "wraps around, as PyTorch has it"),
    REFUSED(ValueError, search_by(nullptr),
            "find_rate: expected a function as loss, but got an empty one"),
    REFUSED(
        Error,
        [] {
          nn::Linear other(2, 1);
          search_by([&] { return other->forward(rand({3, 2})); });
        }(),
        "grad can be implicitly created only for scalar outputs, but got an output"),
    REFUSED(ValueError, search({.lowest = kNaN}),
            "find_rate: expected 0 < lowest < highest, but got nan and 10"),
    REFUSED(ValueError, search({.steps = 1}), "find_rate: expected at least 3 steps, but got 1"),
    REFUSED(ValueError, search({.smoothing = kNaN}),
            "find_rate: expected smoothing from 0 to less than 1, but got nan"),
    REFUSED(ValueError, search({.diverged = kNaN}),
            "find_rate: expected diverged above 1, but got nan"),
    REFUSED(
        Error,
        [] {
          Parts<optim::LBFGS> parts;
          training::find_rate(parts.model, parts.optimizer, [&] { return loss_of(parts.model); });
        }(),
        "LBFGS requires a closure function"),
    REFUSED(Error, search_by([]() -> Tensor { throw Error("no"); }), "no"),
    REFUSED(
        Error,
        [] {
          Parts<> parts(nullptr);
          training::find_rate(parts.model, parts.optimizer, [] { return Tensor(); });
        }(),
        "Accessing empty ModuleHolder"),
    REFUSED(Error, search_by([] { return scalar_tensor(1.0); }), kNoGradient),
};

TEST(WrongTraining, AreRefused) { check(wrong_training); }

}  // namespace
}  // namespace taeda::wrong

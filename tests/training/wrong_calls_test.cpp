// Steps and searches of a rate that cannot be.
#include "tests/wrong_calls.h"

#include "taeda/taeda.h"
#include "taeda/training/rate_finder.h"
#include "taeda/training/trainer.h"

namespace taeda::wrong {
namespace {

using Tensors = std::vector<Tensor>;

Tensor leaf() { return rand({2}).requires_grad_(); }
Tensor no_loss() { return {}; }

const std::vector<Row> wrong_training = {
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o, {.max_norm = kNaN});
        }(),
        "Trainer: expected a max_norm above 0, but got nan"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o, {.max_norm = -1});
        }(),
        "Trainer: expected a max_norm above 0, but got -1"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o, {.accumulate = 0});
        }(),
        "Trainer: expected accumulate to be at least 1, but got 0"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o);
          t.step(Tensor());
        }(),
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o);
          t.step(rand({2}));
        }(),
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o);
          t.step(scalar_tensor(1.0));
        }(),
        "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(ValueError, ([] {
              nn::Linear m(2, 1);
              optim::SGD o(m->parameters(), 0.1), o2(Tensors{leaf()}, 0.1);
              optim::StepLR s(o2, 1);
              training::Trainer t(m, o, {.schedule = &s});
            }()),
            "Trainer: the schedule is of another optimizer"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::LBFGS o(m->parameters());
          training::Trainer t(m, o);
          t.step(m->forward(rand({2})).sum());
        }(),
        "LBFGS requires a closure function"),
    REFUSED(Error, ([] {
              nn::Linear m(2, 1), m2(2, 1);
              optim::SGD o(m2->parameters(), 0.1);
              training::Trainer t(m, o);
              t.step(m->forward(rand({2})).sum());
            }()),
            "Trainer: no parameter of the optimizer got a gradient"),
    REFUSED(
        Error,
        [] {
          nn::Linear m{nullptr};
          optim::SGD o(Tensors{leaf()}, 0.1);
          training::Trainer t(m, o);
        }(),
        "Accessing empty ModuleHolder"),
    ACCEPTED(
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::Trainer t(m, o, {.accumulate = INT64_MAX});
          t.step(m->forward(rand({2})).sum());
          t.finish();
        }(),
        "wraps around, as PyTorch has it"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, nullptr);
        }(),
        "find_rate: expected a function as loss, but got an empty one"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return m->forward(rand({3, 2})); });
        }(),
        "grad can be implicitly created only for scalar outputs, but got an output"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return m->forward(rand({2})).sum(); }, {.lowest = kNaN});
        }(),
        "find_rate: expected 0 < lowest < highest, but got nan and 10"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return m->forward(rand({2})).sum(); }, {.steps = 1});
        }(),
        "find_rate: expected at least 3 steps, but got 1"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return m->forward(rand({2})).sum(); },
                              {.smoothing = kNaN});
        }(),
        "find_rate: expected smoothing from 0 to less than 1, but got nan"),
    REFUSED(
        ValueError,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return m->forward(rand({2})).sum(); },
                              {.diverged = kNaN});
        }(),
        "find_rate: expected diverged above 1, but got nan"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::LBFGS o(m->parameters());
          training::find_rate(m, o, [&] { return m->forward(rand({2})).sum(); });
        }(),
        "LBFGS requires a closure function"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&]() -> Tensor { throw Error("no"); });
        }(),
        "no"),
    REFUSED(
        Error,
        [] {
          nn::Linear m{nullptr};
          optim::SGD o(Tensors{leaf()}, 0.1);
          training::find_rate(m, o, no_loss);
        }(),
        "Accessing empty ModuleHolder"),
    REFUSED(
        Error,
        [] {
          nn::Linear m(2, 1);
          optim::SGD o(m->parameters(), 0.1);
          training::find_rate(m, o, [&] { return scalar_tensor(1.0); });
        }(),
        "element 0 of tensors does not require grad and does not have a grad_fn"),
};

TEST(WrongTraining, AreRefused) { check(wrong_training); }

}  // namespace
}  // namespace taeda::wrong

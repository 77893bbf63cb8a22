// Functions of a program's own, hooks and checks of gradients that err.
#include "taeda/autograd/function.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/taeda.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {
namespace {

using Tensors = std::vector<Tensor>;

Tensor numbers() { return arange(4.0f); }
Tensor leaf() { return rand({2}).requires_grad_(); }
/// A function of a program's own that errs in one way.
struct Erring : autograd::Function<Erring> {
  static Tensor forward(autograd::AutogradContext* c, Tensor x, int how) {
    if (how == 0) c->mark_dirty({Tensor()});
    if (how == 1) c->mark_non_differentiable({Tensor()});
    if (how == 2) c->save_for_backward({Tensor()});
    if (how == 3) return {};
    if (how == 6) return x;
    c->saved_data["how"] = how;
    return x * 2;
  }
  static Tensors backward(autograd::AutogradContext* c, Tensors g) {
    switch (c->saved_data["how"].toInt()) {
      case 4: return {};
      case 5: return {g[0], Tensor(), g[0], g[0]};
      case 7: return {rand({9}), Tensor()};
      case 8: return {g[0].to(kDouble), Tensor()};
      case 9: return {g[0], g[0]};
      default: return {g[0], Tensor()};
    }
  }
};
void apply(int how) {
  Tensor x = leaf();
  Erring::apply(x, how).sum().backward();
}

const std::vector<Row> wrong_autograd = {
    REFUSED(Error, apply(3), "ErringBackward: forward returned an undefined tensor as output 0"),
    REFUSED(Error, apply(4),
            "function ErringBackward returned an incorrect number of gradients (expected 2,"),
    REFUSED(Error, apply(5),
            "function ErringBackward returned an incorrect number of gradients (expected 2,"),
    REFUSED(Error, apply(6), "Expected Int but got None"),
    REFUSED(Error, apply(7),
            "Function ErringBackward returned an invalid gradient at index 0 - got [9] but"),
    REFUSED(Error, apply(9),
            "function ErringBackward returned a gradient different than undefined at"),
    REFUSED(ValueError, autograd::gradcheck(nullptr, {numbers()}),
            "gradcheck expects at least one input tensor to require gradient, but none"),
    REFUSED(ValueError, autograd::gradcheck([](const Tensors& x) { return x; }, {}),
            "gradcheck expects at least one input tensor to require gradient, but none"),
    REFUSED(ValueError, autograd::gradcheck([](const Tensors&) { return Tensors{}; }, {leaf()}),
            "gradcheck expects float64 or complex128 inputs, got Float"),
    REFUSED(ValueError,
            autograd::gradcheck([](const Tensors&) { return Tensors{Tensor()}; }, {leaf()}),
            "gradcheck expects float64 or complex128 inputs, got Float"),
    REFUSED(ValueError,
            autograd::gradcheck([](const Tensors& x) { return x; }, {leaf()}, {.eps = 0}),
            "gradcheck expects float64 or complex128 inputs, got Float"),
    REFUSED(ValueError,
            autograd::gradcheck([](const Tensors& x) { return x; }, {leaf()}, {.eps = kNaN}),
            "gradcheck expects float64 or complex128 inputs, got Float"),
    REFUSED(ValueError, autograd::gradgradcheck(nullptr, {leaf()}),
            "gradcheck: expected a function, but got an empty one"),
    REFUSED(Error, autograd::grad({leaf().sum()}, {}),
            "`inputs` argument to `grad()` cannot be empty."),
    REFUSED(Error, autograd::grad({}, {leaf()}),
            "The differentiated Tensor at index 0 appears to not have been used in the graph."),
    REFUSED(Error, autograd::grad({Tensor()}, {Tensor()}),
            "element 0 of tensors does not require grad and does not have a grad_fn"),
    REFUSED(Error, autograd::grad({leaf().sum()}, {leaf()}),
            "The differentiated Tensor at index 0 appears to not have been used in the graph."),
    REFUSED(Error, autograd::grad({leaf().sum()}, {Tensor()}),
            "One of the differentiated Tensors does not require grad"),
    ACCEPTED(autograd::backward({}, {}), "PyTorch accepts it"),
    REFUSED(Error, autograd::backward({leaf().sum()}, {Tensor(), Tensor()}),
            "got 1 tensors and 2 gradients"),
    REFUSED(
        Error,
        [] {
          Tensor x = leaf();
          (x * 2).register_hook([](Tensor) { return rand({9}); });
          Tensor y = x * 2;
          y.register_hook([](Tensor) { return rand({9}); });
          y.sum().backward();
        }(),
        "hook has changed the size of value: [2] became [9] (at MulBackward0)"),
};

TEST(WrongFunctions, AreRefused) { check(wrong_autograd); }

}  // namespace
}  // namespace taeda::wrong

// Gradients of functions, of gradients, of one's own functions, and hooks that see them.
#include "deterministic.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// x * sigmoid(beta x), with its derivative written out.
struct Swish : torch::autograd::Function<Swish> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double beta) {
    ctx->save_for_backward({x});
    ctx->saved_data["beta"] = beta;
    return x * torch::sigmoid(beta * x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const torch::Tensor x = ctx->get_saved_variables()[0];
    const double beta = ctx->saved_data["beta"].toDouble();
    const torch::Tensor s = torch::sigmoid(beta * x);
    return {grads[0] * (s + beta * x * s * (1 - s)), torch::Tensor()};
  }
};

int main() {
  // One scalar function of a matrix.
  torch::Tensor x = waves({3, 4}).requires_grad_();
  torch::Tensor y = (x * x).sum() + torch::exp(x).mean();
  y.backward();
  report("value", 0, y);
  report("gradient", 0, x.grad().norm());

  // Gradients add up until they are cleared.
  (3 * x).sum().backward();
  report("gradient", 1, x.grad().norm());
  x.grad().zero_();

  // The gradient of a gradient: a penalty on its norm.
  const torch::Tensor w = waves({4, 4}, 0.5, 1).requires_grad_();
  const torch::Tensor out = torch::tanh(x.mm(w)).sum();
  const auto grads = torch::autograd::grad({out}, {x}, {}, /*retain_graph=*/true,
                                           /*create_graph=*/true);
  const torch::Tensor penalty = (grads[0].norm(2, 1) - 1).pow(2).mean();
  penalty.backward();
  report("penalty", 0, penalty);
  report("gradient", 2, w.grad().norm());

  // A function of one's own.
  torch::Tensor z = waves({5}, 2, 2).requires_grad_();
  torch::Tensor swish = Swish::apply(z, 1.5).sum();
  swish.backward();
  report("swish", 0, swish);
  report("gradient", 3, z.grad().sum());

  // A hook that changes a gradient on its way.
  torch::Tensor h = waves({5}, 1, 3).requires_grad_();
  torch::Tensor doubled = h * 2;
  doubled.register_hook([](torch::Tensor grad) { return grad.clamp(-0.5, 0.5); });
  doubled.pow(2).sum().backward();
  report("hooked", 0, h.grad().abs().sum());

  // Nothing is recorded where nothing is wanted.
  {
    torch::NoGradGuard no_grad;
    report("recorded", 0, (x * 2).requires_grad() ? 1.0 : 0.0);
  }
  report("recorded", 1, (x * 2).detach().requires_grad() ? 1.0 : 0.0);
  report("recorded", 2, (x * 2).requires_grad() ? 1.0 : 0.0);
}

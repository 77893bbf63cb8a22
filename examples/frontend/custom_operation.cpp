// An operation of one's own, registered by name with its gradient, in a model that calls it.
#include <torch/library.h>

#include "deterministic.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// a * sigmoid(b) + floor: what a gate lets through.
torch::Tensor gate_kernel(const torch::Tensor& a, const torch::Tensor& b, double floor) {
  TORCH_CHECK(a.sizes() == b.sizes(), "gate: expected equal shapes, got ", a.sizes(), " and ",
              b.sizes());
  return a * torch::sigmoid(b) + floor;
}

torch::Tensor gate(const torch::Tensor& a, const torch::Tensor& b, double floor) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("frontend_example::gate", "")
          .typed<torch::Tensor(const torch::Tensor&, const torch::Tensor&, double)>();
  return op.call(a, b, floor);
}

struct Gate : torch::autograd::Function<Gate> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& a, const torch::Tensor& b,
                               double floor) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({a, b});
    return gate(a, b, floor);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const torch::Tensor s = torch::sigmoid(saved[1]);
    return {grads[0] * s, grads[0] * saved[0] * s * (1 - s), torch::Tensor()};
  }
};

torch::Tensor gate_autograd(const torch::Tensor& a, const torch::Tensor& b, double floor) {
  return Gate::apply(a, b, floor);
}

TORCH_LIBRARY(frontend_example, m) { m.def("gate(Tensor a, Tensor b, float floor) -> Tensor"); }
TORCH_LIBRARY_IMPL(frontend_example, CPU, m) { m.impl("gate", gate_kernel); }
TORCH_LIBRARY_IMPL(frontend_example, Autograd, m) { m.impl("gate", gate_autograd); }

struct Net : torch::nn::Module {
  Net() {
    register_module("in", in);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto halves = in(x).chunk(2, 1);
    return out(gate(halves[0], halves[1], 0.1));
  }
  torch::nn::Linear in{4, 12}, out{6, 1};
};

int main() {
  Net net;
  fill(net);
  const torch::Tensor x = waves({20, 4}), y = torch::sin(x.sum(1, /*keepdim=*/true));
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(0.02));
  for (int64_t step = 0; step < 8; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::mse_loss(net.forward(x), y);
    loss.backward();
    optimizer.step();
    report("loss", step, loss);
  }
  try {
    gate(x, y, 0);
  } catch (const c10::Error&) {
    report("refused", 0, 1.0);
  }
}

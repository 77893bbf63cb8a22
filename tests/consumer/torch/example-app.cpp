#include <c10/util/irange.h>
#include <torch/nn/modules/linear.h>
#include <torch/torch.h>

#include <iostream>

struct Net : torch::nn::Module {
  Net() { fc = register_module("fc", torch::nn::Linear(3, 1)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};

int main() {
  torch::manual_seed(0);
  Net net;
  torch::optim::SGD optimizer(net.parameters(), /*lr=*/0.05);
  const torch::Tensor x = torch::rand({64, 3});
  const torch::Tensor y = x.sum(1, /*keepdim=*/true);
  float first = 0, last = 0;
  for (const auto step : c10::irange(300)) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::mse_loss(net.forward(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<float>();
    if (step == 0) first = last;
  }
  std::cout << (last < first / 10 ? "the loss falls" : "the loss does not fall") << std::endl;
}

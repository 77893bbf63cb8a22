// A residual network (He et al. 2016) with a schedule of learning rates, saved and loaded.
#include <sstream>
#include <vector>

#include "deterministic.h"

namespace nn = torch::nn;

nn::Conv2dOptions conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false);
}

struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(conv(in, out, 3, stride)), norm1(out), conv2(conv(out, out, 3)), norm2(out) {
    register_module("conv1", conv1);
    register_module("norm1", norm1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut", nn::Sequential(nn::Conv2d(conv(in, out, 1, stride)), nn::BatchNorm2d(out)));
  }
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor y = torch::relu(norm1(conv1(x)));
    y = norm2(conv2(y));
    y += shortcut.is_empty() ? x : shortcut->forward(x);
    return torch::relu(y);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d norm1;
  nn::Conv2d conv2;
  nn::BatchNorm2d norm2;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNetImpl : nn::Module {
  ResNetImpl() {
    register_module("stem", stem);
    register_module("norm", norm);
    register_module("stages", stages);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = stages->forward(torch::relu(norm(stem(x))));
    return fc(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }
  nn::Conv2d stem{conv(3, 8, 3)};
  nn::BatchNorm2d norm{8};
  nn::Sequential stages{Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 1)};
  nn::Linear fc{16, 5};
};
TORCH_MODULE(ResNet);

int main() {
  const int64_t n = 15;
  const torch::Tensor labels = torch::arange(n) % 5;
  const torch::Tensor images =
      waves({n, 3, 12, 12}, 0.5) + (labels.to(torch::kFloat) / 2 - 1).view({n, 1, 1, 1});
  ResNet net;
  fill(*net);
  torch::optim::SGD optimizer(
      net->parameters(),
      torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(5e-4).nesterov(true));
  torch::optim::StepLR schedule(optimizer, 2, 0.5);
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    optimizer.zero_grad();
    torch::Tensor loss = nn::functional::cross_entropy(net(images), labels);
    loss.backward();
    optimizer.step();
    schedule.step();
    report("loss", epoch, loss);
    auto& options = static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options());
    report("rate", epoch, options.lr());
  }

  std::stringstream file;
  torch::save(net, file);
  ResNet loaded;
  torch::load(loaded, file);
  loaded->eval();
  torch::NoGradGuard no_grad;
  report("test", 0, nn::functional::cross_entropy(loaded(images), labels));
}

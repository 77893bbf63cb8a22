// An image that takes its content from one and its style from another, found by L-BFGS (Gatys et
// al. 2016), on features of filters from a formula.
#include <vector>

#include "deterministic.h"

namespace nn = torch::nn;

/// How features appear together, wherever they are.
torch::Tensor gram(const torch::Tensor& features) {
  const int64_t channels = features.size(1), n = features.numel() / channels;
  const torch::Tensor flat = features.reshape({channels, n});
  return flat.mm(flat.t()) / static_cast<double>(channels * n);
}

struct Features : nn::Module {
  Features() {
    register_module("low", low);
    register_module("high", high);
    fill(*this);
    for (auto& p : parameters()) p.set_requires_grad(false);
  }
  std::vector<torch::Tensor> forward(const torch::Tensor& image) {
    const torch::Tensor fine = torch::softplus(low(image));
    return {fine, torch::softplus(high(torch::avg_pool2d(fine, 2)))};
  }
  nn::Conv2d low{nn::Conv2dOptions(3, 6, 3).padding(1).padding_mode(torch::kReflect)};
  nn::Conv2d high{nn::Conv2dOptions(6, 8, 3).padding(1)};
};

int main() {
  Features features;
  features.to(torch::kDouble);
  const auto axis = torch::linspace(0, 6, 16, torch::kDouble);
  const torch::Tensor content = torch::stack({torch::sin(axis).unsqueeze(1) * torch::cos(axis),
                                              torch::sin(axis + 1).unsqueeze(0).expand({16, 16}),
                                              torch::cos(2 * axis).unsqueeze(1).expand({16, 16})})
                                    .unsqueeze(0);
  const torch::Tensor style = waves({1, 3, 16, 16}).to(torch::kDouble);
  const torch::Tensor wanted = features.forward(content)[1];
  std::vector<torch::Tensor> grams;
  for (const torch::Tensor& f : features.forward(style)) grams.push_back(gram(f));

  for (const bool search : {false, true}) {
    torch::Tensor image = content.clone().requires_grad_();
    torch::optim::LBFGSOptions options(search ? 1.0 : 0.5);
    options.max_iter(5).history_size(10);
    if (search) options.line_search_fn("strong_wolfe");
    torch::optim::LBFGS optimizer(std::vector<torch::Tensor>{image}, options);
    for (int64_t step = 0; step < 4; ++step) {
      const auto closure = [&] {
        optimizer.zero_grad();
        const std::vector<torch::Tensor> now = features.forward(image);
        torch::Tensor loss = torch::mse_loss(now[1], wanted);
        for (size_t i = 0; i < now.size(); ++i)
          loss = loss + 200 * torch::mse_loss(gram(now[i]), grams[i]);
        loss.backward();
        return loss;
      };
      report(search ? "searched" : "loss", step, optimizer.step(closure));
    }
  }
}

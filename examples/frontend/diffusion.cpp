// A denoising diffusion model of points on a circle (Ho et al. 2020).
#include "deterministic.h"

namespace nn = torch::nn;

constexpr int64_t kSteps = 20;

struct NoisePredictorImpl : nn::Module {
  NoisePredictorImpl() {
    register_module("time", time);
    register_module("in", in);
    register_module("middle", middle);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& t) {
    torch::Tensor h = torch::silu(in(x) + time(t));
    h = torch::silu(middle(h)) + h;
    return out(h);
  }
  nn::Embedding time{kSteps, 32};
  nn::Linear in{2, 32}, middle{32, 32}, out{32, 2};
};
TORCH_MODULE(NoisePredictor);

int main() {
  torch::manual_seed(4);
  const torch::Tensor beta = torch::linspace(1e-3, 0.2, kSteps);
  const torch::Tensor alpha = 1 - beta, kept = torch::cumprod(alpha, 0);
  const torch::Tensor angle = torch::arange(64, torch::kFloat) * (2 * M_PI / 64);
  const torch::Tensor points = torch::stack({torch::cos(angle), torch::sin(angle)}, 1);

  NoisePredictor model;
  fill(*model);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(5e-3));
  for (int64_t step = 0; step < 12; ++step) {
    const torch::Tensor t = torch::randint(0, kSteps, {64}, torch::kLong);
    const torch::Tensor noise = torch::randn_like(points);
    const torch::Tensor k = kept.index_select(0, t).unsqueeze(1);
    const torch::Tensor noisy = k.sqrt() * points + (1 - k).sqrt() * noise;
    optimizer.zero_grad();
    torch::Tensor loss = torch::mse_loss(model(noisy, t), noise);
    loss.backward();
    optimizer.step();
    report("loss", step, loss);
  }

  torch::NoGradGuard no_grad;
  torch::Tensor x = torch::randn({16, 2});
  for (int64_t t = kSteps - 1; t >= 0; --t) {
    const torch::Tensor predicted = model(x, torch::full({16}, t, torch::kLong));
    x = (x - beta[t] / (1 - kept[t]).sqrt() * predicted) / alpha[t].sqrt();
    if (t > 0) x = x + beta[t].sqrt() * torch::randn({16, 2});
  }
  report("sample", 0, x.norm(2, 1).mean());
}

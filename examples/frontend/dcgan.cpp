// A generator of small images and a discriminator that learn from each other (Radford et al. 2016).
#include "deterministic.h"

namespace nn = torch::nn;

struct GeneratorImpl : nn::Module {
  GeneratorImpl()
      : up1(nn::ConvTranspose2dOptions(8, 16, 4).bias(false)),
        norm1(16),
        up2(nn::ConvTranspose2dOptions(16, 8, 4).stride(2).padding(1).bias(false)),
        norm2(8),
        up3(nn::ConvTranspose2dOptions(8, 1, 4).stride(2).padding(1)) {
    register_module("up1", up1);
    register_module("norm1", norm1);
    register_module("up2", up2);
    register_module("norm2", norm2);
    register_module("up3", up3);
  }
  torch::Tensor forward(torch::Tensor noise) {
    noise = torch::relu(norm1(up1(noise)));
    noise = torch::relu(norm2(up2(noise)));
    return torch::tanh(up3(noise));
  }
  nn::ConvTranspose2d up1;
  nn::BatchNorm2d norm1;
  nn::ConvTranspose2d up2;
  nn::BatchNorm2d norm2;
  nn::ConvTranspose2d up3;
};
TORCH_MODULE(Generator);

/// Bright discs on a dark ground.
torch::Tensor real_images(int64_t n) {
  const auto axis = torch::linspace(-1, 1, 16);
  const auto squares = axis.view({1, 16, 1}).pow(2) + axis.view({1, 1, 16}).pow(2);
  const auto radius = torch::linspace(0.3, 0.9, n).view({n, 1, 1});
  return torch::tanh(6 * (radius.pow(2) - squares)).unsqueeze(1);
}

int main() {
  torch::manual_seed(1);
  Generator generator;
  nn::Sequential discriminator(
      nn::Conv2d(nn::Conv2dOptions(1, 8, 4).stride(2).padding(1).bias(false)),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Conv2d(nn::Conv2dOptions(8, 16, 4).stride(2).padding(1).bias(false)), nn::BatchNorm2d(16),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Conv2d(nn::Conv2dOptions(16, 1, 4).bias(false)), nn::Sigmoid());
  fill(*generator);
  fill(*discriminator);
  const auto options = torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.999));
  torch::optim::Adam generator_optimizer(generator->parameters(), options);
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(), options);

  const torch::Tensor real = real_images(12);
  for (int64_t step = 0; step < 6; ++step) {
    discriminator->zero_grad();
    const torch::Tensor real_labels = torch::full({12}, 0.9);
    const torch::Tensor on_real =
        torch::binary_cross_entropy(discriminator->forward(real).reshape(12), real_labels);
    on_real.backward();
    const torch::Tensor fake = generator->forward(torch::randn({12, 8, 1, 1}));
    const torch::Tensor on_fake = torch::binary_cross_entropy(
        discriminator->forward(fake.detach()).reshape(12), torch::zeros(12));
    on_fake.backward();
    discriminator_optimizer.step();

    generator->zero_grad();
    const torch::Tensor fooled =
        torch::binary_cross_entropy(discriminator->forward(fake).reshape(12), torch::ones(12));
    fooled.backward();
    generator_optimizer.step();
    report("discriminator", step, on_real + on_fake);
    report("generator", step, fooled);
  }
  generator->eval();
  torch::NoGradGuard no_grad;
  report("image", 0, generator->forward(torch::randn({4, 8, 1, 1})).abs().mean());
}

// A U-Net that finds discs in noisy images (Ronneberger et al. 2015).
#include "deterministic.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Sequential double_conv(int64_t in, int64_t out) {
  return nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)), nn::BatchNorm2d(out),
      nn::ReLU(nn::ReLUOptions(true)), nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1)),
      nn::GroupNorm(nn::GroupNormOptions(2, out)), nn::ReLU(nn::ReLUOptions(true)));
}

struct UNetImpl : nn::Module {
  UNetImpl() {
    register_module("down1", down1);
    register_module("down2", down2);
    register_module("bottom", bottom);
    register_module("up2", up2);
    register_module("join2", join2);
    register_module("join1", join1);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor fine = down1->forward(x);
    const torch::Tensor coarse = down2->forward(F::max_pool2d(fine, F::MaxPool2dFuncOptions(2)));
    torch::Tensor y = bottom->forward(F::avg_pool2d(coarse, F::AvgPool2dFuncOptions(2)));
    y = join2->forward(torch::cat({coarse, up2(y)}, 1));
    y = F::interpolate(y, F::InterpolateFuncOptions()
                              .scale_factor(std::vector<double>{2, 2})
                              .mode(torch::kBilinear)
                              .align_corners(false));
    return head(join1->forward(torch::cat({fine, y}, 1)));
  }
  nn::Sequential down1 = double_conv(1, 4), down2 = double_conv(4, 8), bottom = double_conv(8, 16);
  nn::ConvTranspose2d up2{nn::ConvTranspose2dOptions(16, 8, 2).stride(2)};
  nn::Sequential join2 = double_conv(16, 8), join1 = double_conv(12, 4);
  nn::Conv2d head{nn::Conv2dOptions(4, 1, 1)};
};
TORCH_MODULE(UNet);

int main() {
  const int64_t n = 4, size = 16;
  const auto axis = torch::linspace(-1, 1, size);
  const auto shift = torch::linspace(-0.4, 0.4, n).view({n, 1, 1});
  const auto squares =
      (axis.view({1, size, 1}) - shift).pow(2) + (axis.view({1, 1, size}) + shift).pow(2);
  const torch::Tensor masks = (squares < 0.25).to(torch::kFloat).unsqueeze(1);
  const torch::Tensor images = masks + waves({n, 1, size, size}, 0.5);

  UNet net;
  fill(*net);
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-2));
  for (int64_t step = 0; step < 6; ++step) {
    optimizer.zero_grad();
    const torch::Tensor logits = net->forward(images);
    const torch::Tensor p = torch::sigmoid(logits);
    const torch::Tensor dice = 1 - (2 * (p * masks).sum() + 1) / (p.sum() + masks.sum() + 1);
    torch::Tensor loss = F::binary_cross_entropy_with_logits(logits, masks) + dice;
    loss.backward();
    optimizer.step();
    report("loss", step, loss);
  }
}

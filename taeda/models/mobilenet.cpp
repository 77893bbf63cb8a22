#include "taeda/models/mobilenet.h"

#include <algorithm>

#include "taeda/nn/init.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::models {

namespace {

constexpr int64_t kFirst = 32, kLast = 1280, kMultiple = 8;
constexpr double kClassifierStd = 0.01;

/// Table 2 of the paper: expansion, channels, blocks, stride of the first block.
struct Stage {
  int64_t expand, channels, blocks, stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// The nearest multiple of 8 that is not more than a tenth below.
int64_t divisible(double channels) {
  const auto nearest = static_cast<int64_t>(channels + kMultiple / 2.) / kMultiple * kMultiple;
  const int64_t out = std::max(kMultiple, nearest);
  return static_cast<double>(out) < 0.9 * channels ? out + kMultiple : out;
}

nn::Sequential conv_bn_relu(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
                            int64_t groups = 1) {
  return nn::Sequential{nn::Conv2d({.in_channels = in,
                                    .out_channels = out,
                                    .kernel_size = kernel,
                                    .stride = stride,
                                    .padding = (kernel - 1) / 2,
                                    .groups = groups,
                                    .bias = false}),
                        nn::BatchNorm2d(out), nn::ReLU6(true)};
}

}  // namespace

void InvertedResidualImpl::reset() {
  const int64_t hidden = in_ * expand_ratio_;
  nn::Sequential layers;
  if (expand_ratio_ != 1) layers->push_back(conv_bn_relu(in_, hidden, 1));
  layers->push_back(conv_bn_relu(hidden, hidden, 3, stride_, hidden));
  layers->push_back(
      nn::Conv2d({.in_channels = hidden, .out_channels = out_, .kernel_size = 1, .bias = false}));
  layers->push_back(nn::BatchNorm2d(out_));
  conv = register_module("conv", layers);
}

Tensor InvertedResidualImpl::forward(const Tensor& x) {
  const Tensor y = conv(x);
  return stride_ == 1 && in_ == out_ ? x + y : y;
}

MobileNetV2Impl::MobileNetV2Impl(MobileNetV2Options o) : options(o) {
  MobileNetV2Impl::reset();
  initialize();
}

void MobileNetV2Impl::reset() {
  const double width = options.width_mult;
  int64_t channels = divisible(kFirst * width);
  const int64_t last = divisible(kLast * std::max(1., width));
  nn::Sequential layers;
  layers->push_back(conv_bn_relu(3, channels, 3, 2));
  for (const Stage& stage : kStages) {
    const int64_t out = divisible(static_cast<double>(stage.channels) * width);
    for (int64_t i = 0; i < stage.blocks; ++i) {
      layers->push_back(InvertedResidual(channels, out, i == 0 ? stage.stride : 1, stage.expand));
      channels = out;
    }
  }
  layers->push_back(conv_bn_relu(channels, last, 1));
  features = register_module("features", layers);
  classifier = register_module("classifier", nn::Sequential{nn::Dropout(options.dropout),
                                                            nn::Linear(last, options.num_classes)});
}

void MobileNetV2Impl::initialize() {
  apply([](nn::Module& module) {
    if (auto* conv = module.as<nn::Conv2d>()) nn::init::kaiming_normal_(conv->weight, 0, kFanOut);
    if (auto* linear = module.as<nn::Linear>()) {
      nn::init::normal_(linear->weight, 0, kClassifierStd);
      nn::init::zeros_(linear->bias);
    }
  });
}

Tensor MobileNetV2Impl::forward(const Tensor& x) { return classifier(features(x).mean({2, 3})); }

MobileNetV2 mobilenet_v2(int64_t num_classes) {
  return MobileNetV2(MobileNetV2Options{.num_classes = num_classes});
}

}  // namespace taeda::inline v0_2::models

#include "taeda/models/vgg.h"

#include "taeda/base/error.h"
#include "taeda/nn/init.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::models {

namespace {

/// Side of the pictures that the classifier sees, and the width of its hidden layers.
constexpr int64_t kSide = 7, kHidden = 4096;
constexpr double kLinearStd = 0.01;

/// The configurations A, B, D and E of the paper: `n` convolutions in each of the last three
/// stages.
VGG make(int64_t first, int64_t n, bool batch_norm, int64_t num_classes) {
  std::vector<int64_t> layers;
  const auto stage = [&](int64_t channels, int64_t count) {
    layers.insert(layers.end(), static_cast<size_t>(count), channels);
    layers.push_back(0);
  };
  stage(64, first);
  stage(128, first);
  for (int64_t channels : {256, 512, 512}) stage(channels, n);
  return VGG(VGGOptions{
      .layers = std::move(layers), .batch_norm = batch_norm, .num_classes = num_classes});
}

}  // namespace

VGGImpl::VGGImpl(VGGOptions o) : options(std::move(o)) {
  TAEDA_CHECK_VALUE(!options.layers.empty(), "VGG expects at least one layer");
  VGGImpl::reset();
  initialize();
}

void VGGImpl::reset() {
  nn::Sequential layers;
  int64_t channels = 3;
  for (int64_t out : options.layers) {
    if (out == 0) {
      layers->push_back(nn::MaxPool2d({.kernel_size = 2, .stride = 2}));
      continue;
    }
    layers->push_back(
        nn::Conv2d({.in_channels = channels, .out_channels = out, .kernel_size = 3, .padding = 1}));
    if (options.batch_norm) layers->push_back(nn::BatchNorm2d(out));
    layers->push_back(nn::ReLU(true));
    channels = out;
  }
  features = register_module("features", layers);
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(kSide));
  classifier = register_module(
      "classifier",
      nn::Sequential{nn::Linear(channels * kSide * kSide, kHidden), nn::ReLU(true),
                     nn::Dropout(options.dropout), nn::Linear(kHidden, kHidden), nn::ReLU(true),
                     nn::Dropout(options.dropout), nn::Linear(kHidden, options.num_classes)});
}

void VGGImpl::initialize() {
  apply([](nn::Module& module) {
    if (auto* conv = module.as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
      nn::init::zeros_(conv->bias);
    }
    if (auto* linear = module.as<nn::Linear>()) {
      nn::init::normal_(linear->weight, 0, kLinearStd);
      nn::init::zeros_(linear->bias);
    }
  });
}

Tensor VGGImpl::forward(const Tensor& x) { return classifier(avgpool(features(x)).flatten(1)); }

VGG vgg11(int64_t num_classes) { return make(1, 2, false, num_classes); }
VGG vgg11_bn(int64_t num_classes) { return make(1, 2, true, num_classes); }
VGG vgg13(int64_t num_classes) { return make(2, 2, false, num_classes); }
VGG vgg13_bn(int64_t num_classes) { return make(2, 2, true, num_classes); }
VGG vgg16(int64_t num_classes) { return make(2, 3, false, num_classes); }
VGG vgg16_bn(int64_t num_classes) { return make(2, 3, true, num_classes); }
VGG vgg19(int64_t num_classes) { return make(2, 4, false, num_classes); }
VGG vgg19_bn(int64_t num_classes) { return make(2, 4, true, num_classes); }

}  // namespace taeda::inline v0_2::models

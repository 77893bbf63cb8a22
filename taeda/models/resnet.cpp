#include "taeda/models/resnet.h"

#include "taeda/base/error.h"
#include "taeda/nn/init.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::models {

namespace {

nn::Conv2d conv3x3(int64_t in, int64_t out, int64_t stride = 1) {
  return nn::Conv2d({.in_channels = in,
                     .out_channels = out,
                     .kernel_size = 3,
                     .stride = stride,
                     .padding = 1,
                     .bias = false});
}

nn::Conv2d conv1x1(int64_t in, int64_t out, int64_t stride = 1) {
  return nn::Conv2d(
      {.in_channels = in, .out_channels = out, .kernel_size = 1, .stride = stride, .bias = false});
}

/// What brings a block's input to the shape of its output; nothing where it has it.
nn::Sequential make_downsample(int64_t in, int64_t out, int64_t stride) {
  if (in == out && stride == 1) return nullptr;
  return nn::Sequential{conv1x1(in, out, stride), nn::BatchNorm2d(out)};
}

/// relu(y + x), where x goes through `downsample` if there is one.
Tensor join(const Tensor& y, const Tensor& x, nn::Sequential& downsample) {
  return taeda::relu(y + (downsample ? downsample(x) : x));
}

}  // namespace

void BasicBlockImpl::reset() {
  conv1 = register_module("conv1", conv3x3(inplanes_, planes_, stride_));
  bn1 = register_module("bn1", nn::BatchNorm2d(planes_));
  relu = register_module("relu", nn::ReLU(true));
  conv2 = register_module("conv2", conv3x3(planes_, planes_));
  bn2 = register_module("bn2", nn::BatchNorm2d(planes_));
  downsample = make_downsample(inplanes_, planes_ * kExpansion, stride_);
  if (downsample) register_module("downsample", downsample);
}

Tensor BasicBlockImpl::forward(const Tensor& x) {
  Tensor y = relu(bn1(conv1(x)));
  y = bn2(conv2(y));
  return join(y, x, downsample);
}

void BottleneckImpl::reset() {
  conv1 = register_module("conv1", conv1x1(inplanes_, planes_));
  bn1 = register_module("bn1", nn::BatchNorm2d(planes_));
  conv2 = register_module("conv2", conv3x3(planes_, planes_, stride_));
  bn2 = register_module("bn2", nn::BatchNorm2d(planes_));
  conv3 = register_module("conv3", conv1x1(planes_, planes_ * kExpansion));
  bn3 = register_module("bn3", nn::BatchNorm2d(planes_ * kExpansion));
  relu = register_module("relu", nn::ReLU(true));
  downsample = make_downsample(inplanes_, planes_ * kExpansion, stride_);
  if (downsample) register_module("downsample", downsample);
}

Tensor BottleneckImpl::forward(const Tensor& x) {
  Tensor y = relu(bn1(conv1(x)));
  y = relu(bn2(conv2(y)));
  y = bn3(conv3(y));
  return join(y, x, downsample);
}

ResNetImpl::ResNetImpl(ResNetOptions o) : options(std::move(o)) {
  TAEDA_CHECK_VALUE(options.layers.size() == 4, "ResNet expects four stages, got ",
                    options.layers.size());
  ResNetImpl::reset();
  initialize();
}

nn::Sequential ResNetImpl::make_layer(int64_t& inplanes, int64_t planes, int64_t blocks,
                                      int64_t stride) const {
  nn::Sequential out;
  for (int64_t i = 0; i < blocks; ++i) {
    if (options.bottleneck)
      out->push_back(Bottleneck(inplanes, planes, i == 0 ? stride : 1));
    else
      out->push_back(BasicBlock(inplanes, planes, i == 0 ? stride : 1));
    inplanes = planes * (options.bottleneck ? BottleneckImpl::kExpansion : 1);
  }
  return out;
}

void ResNetImpl::reset() {
  int64_t inplanes = 64;
  conv1 = register_module("conv1", nn::Conv2d({.in_channels = 3,
                                               .out_channels = inplanes,
                                               .kernel_size = 7,
                                               .stride = 2,
                                               .padding = 3,
                                               .bias = false}));
  bn1 = register_module("bn1", nn::BatchNorm2d(inplanes));
  relu = register_module("relu", nn::ReLU(true));
  maxpool =
      register_module("maxpool", nn::MaxPool2d({.kernel_size = 3, .stride = 2, .padding = 1}));
  const auto& n = options.layers;
  layer1 = register_module("layer1", make_layer(inplanes, 64, n[0], 1));
  layer2 = register_module("layer2", make_layer(inplanes, 128, n[1], 2));
  layer3 = register_module("layer3", make_layer(inplanes, 256, n[2], 2));
  layer4 = register_module("layer4", make_layer(inplanes, 512, n[3], 2));
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  fc = register_module("fc", nn::Linear(inplanes, options.num_classes));
}

void ResNetImpl::initialize() {
  apply([&](nn::Module& module) {
    if (auto* conv = module.as<nn::Conv2d>())
      nn::init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
    if (!options.zero_init_residual) return;
    if (auto* block = module.as<BasicBlock>()) nn::init::zeros_(block->bn2->weight);
    if (auto* block = module.as<Bottleneck>()) nn::init::zeros_(block->bn3->weight);
  });
}

Tensor ResNetImpl::forward(const Tensor& x) {
  Tensor y = maxpool(relu(bn1(conv1(x))));
  y = layer4(layer3(layer2(layer1(y))));
  return fc(avgpool(y).flatten(1));
}

ResNet resnet18(int64_t num_classes) {
  return ResNet(ResNetOptions{.layers = {2, 2, 2, 2}, .num_classes = num_classes});
}
ResNet resnet34(int64_t num_classes) {
  return ResNet(ResNetOptions{.layers = {3, 4, 6, 3}, .num_classes = num_classes});
}
ResNet resnet50(int64_t num_classes) {
  return ResNet(
      ResNetOptions{.layers = {3, 4, 6, 3}, .bottleneck = true, .num_classes = num_classes});
}
ResNet resnet101(int64_t num_classes) {
  return ResNet(
      ResNetOptions{.layers = {3, 4, 23, 3}, .bottleneck = true, .num_classes = num_classes});
}
ResNet resnet152(int64_t num_classes) {
  return ResNet(
      ResNetOptions{.layers = {3, 8, 36, 3}, .bottleneck = true, .num_classes = num_classes});
}

}  // namespace taeda::inline v0_2::models

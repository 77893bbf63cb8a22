// Residual networks (He, Zhang, Ren, Sun 2015, arXiv:1512.03385); names as torchvision's. The
// stride of a bottleneck is at its 3 x 3 convolution (ResNet v1.5), as there.
#pragma once

#include <vector>

#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/nn/modules/pooling.h"

namespace taeda::inline v0_2::models {

/// Two convolutions of 3 x 3 around which the input goes, too.
/// Shapes: (N, inplanes, H, W) to (N, planes, H / stride, W / stride).
class BasicBlockImpl : public nn::Cloneable<BasicBlockImpl> {
 public:
  static constexpr int64_t kExpansion = 1;
  BasicBlockImpl(int64_t inplanes, int64_t planes, int64_t stride)
      : inplanes_(inplanes), planes_(planes), stride_(stride) {
    BasicBlockImpl::reset();
  }
  void reset() override;
  Tensor forward(const Tensor& x);

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::ReLU relu{nullptr};
  nn::Sequential downsample{nullptr};  ///< empty where the input fits the output

 private:
  int64_t inplanes_, planes_, stride_;
};
TAEDA_MODULE(BasicBlock);

/// 1 x 1 to fewer channels, 3 x 3, 1 x 1 to four times as many.
/// Shapes: (N, inplanes, H, W) to (N, 4 planes, H / stride, W / stride).
class BottleneckImpl : public nn::Cloneable<BottleneckImpl> {
 public:
  static constexpr int64_t kExpansion = 4;
  BottleneckImpl(int64_t inplanes, int64_t planes, int64_t stride)
      : inplanes_(inplanes), planes_(planes), stride_(stride) {
    BottleneckImpl::reset();
  }
  void reset() override;
  Tensor forward(const Tensor& x);

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  nn::ReLU relu{nullptr};
  nn::Sequential downsample{nullptr};

 private:
  int64_t inplanes_, planes_, stride_;
};
TAEDA_MODULE(Bottleneck);

/// Options of a residual network: which blocks it has, and how many; 1000 classes by default.
struct ResNetOptions {
  /// how many blocks each of the four stages has, at least 1
  std::vector<int64_t> layers = {2, 2, 2, 2};
  bool bottleneck = false;
  int64_t num_classes = 1000;
  /// Start the last normalisation of each block at zero, so that a block begins as the identity.
  bool zero_init_residual = false;
};

/// Pictures (N, 3, H, W) to scores (N, num_classes).
class ResNetImpl : public nn::Cloneable<ResNetImpl> {
 public:
  /// Throws ValueError unless there are four stages.
  explicit ResNetImpl(ResNetOptions options = {});
  void reset() override;
  Tensor forward(const Tensor& x);

  ResNetOptions options;
  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::ReLU relu{nullptr};
  nn::MaxPool2d maxpool{nullptr};
  nn::Sequential layer1{nullptr}, layer2{nullptr}, layer3{nullptr}, layer4{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Linear fc{nullptr};

 private:
  nn::Sequential make_layer(int64_t& inplanes, int64_t planes, int64_t blocks,
                            int64_t stride) const;
  void initialize();
};
TAEDA_MODULE(ResNet);

/// The networks of the paper, not trained; `num_classes` outputs.
/// Shapes: (N, 3, H, W) to (N, num_classes).
ResNet resnet18(int64_t num_classes = 1000);
ResNet resnet34(int64_t num_classes = 1000);
ResNet resnet50(int64_t num_classes = 1000);
ResNet resnet101(int64_t num_classes = 1000);
ResNet resnet152(int64_t num_classes = 1000);

}  // namespace taeda::models

// VGG (Simonyan and Zisserman 2014, arXiv:1409.1556): [N, 3, H, W] gives [N, num_classes]; names as
// torchvision's.
#pragma once

#include <vector>

#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/pooling.h"

namespace taeda::inline v0_2::models {

struct VGGOptions {
  /// How many channels each convolution has, 0 for pooling; whether batch norm follows, false by
  /// default; and the sizes of the head.
  std::vector<int64_t> layers = {};
  bool batch_norm = false;
  int64_t num_classes = 1000;
  double dropout = 0.5;
};

/// Pictures (N, 3, H, W) to scores (N, num_classes).
class VGGImpl : public nn::Cloneable<VGGImpl> {
 public:
  /// Throws ValueError for no layers.
  explicit VGGImpl(VGGOptions options);
  void reset() override;
  Tensor forward(const Tensor& x);

  VGGOptions options;
  nn::Sequential features{nullptr}, classifier{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};

 private:
  void initialize();
};
TAEDA_MODULE(VGG);

/// The networks of the paper, not trained; `_bn` with batch norm after each convolution.
/// Shapes: (N, 3, H, W) to (N, num_classes).
VGG vgg11(int64_t num_classes = 1000);
VGG vgg11_bn(int64_t num_classes = 1000);
VGG vgg13(int64_t num_classes = 1000);
VGG vgg13_bn(int64_t num_classes = 1000);
VGG vgg16(int64_t num_classes = 1000);
VGG vgg16_bn(int64_t num_classes = 1000);
VGG vgg19(int64_t num_classes = 1000);
VGG vgg19_bn(int64_t num_classes = 1000);

}  // namespace taeda::models

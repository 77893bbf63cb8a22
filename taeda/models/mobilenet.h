// MobileNetV2 (Sandler, Howard, Zhu, Zhmoginov, Chen 2018, arXiv:1801.04381); names as
// torchvision's.
#pragma once

#include "taeda/nn/containers/sequential.h"

namespace taeda::inline v0_2::models {

/// Convolutions of 1 x 1 to more channels, of 3 x 3 on each channel alone and of 1 x 1 to fewer
/// (Sandler et al. 2018, arXiv:1801.04381); the input [N, C, H, W] is added where its shape fits.
class InvertedResidualImpl : public nn::Cloneable<InvertedResidualImpl> {
 public:
  InvertedResidualImpl(int64_t in, int64_t out, int64_t stride, int64_t expand_ratio)
      : in_(in), out_(out), stride_(stride), expand_ratio_(expand_ratio) {
    InvertedResidualImpl::reset();
  }
  void reset() override;
  Tensor forward(const Tensor& x);

  nn::Sequential conv{nullptr};

 private:
  int64_t in_, out_, stride_, expand_ratio_;
};
TAEDA_MODULE(InvertedResidual);

/// Options of MobileNetV2: width 1 and 1000 classes by default.
struct MobileNetV2Options {
  int64_t num_classes = 1000;
  double width_mult = 1;  ///< the factor of the numbers of channels; 1 by default
  double dropout = 0.2;
};

/// Pictures (N, 3, H, W) to scores (N, num_classes).
/// Throws Error for a shape with other than 3 channels.
class MobileNetV2Impl : public nn::Cloneable<MobileNetV2Impl> {
 public:
  explicit MobileNetV2Impl(MobileNetV2Options options = {});
  void reset() override;
  Tensor forward(const Tensor& x);

  MobileNetV2Options options;
  nn::Sequential features{nullptr}, classifier{nullptr};

 private:
  void initialize();
};
TAEDA_MODULE(MobileNetV2);

/// MobileNetV2 of width 1, not trained: [N, 3, H, W] gives [N, 1000] by default.
MobileNetV2 mobilenet_v2(int64_t num_classes = 1000);

}  // namespace taeda::models

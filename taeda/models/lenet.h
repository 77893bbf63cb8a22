// LeNet-5 (LeCun, Bottou, Bengio, Haffner 1998) with ReLU and maximum pooling, as it is taught
// today.
#pragma once

#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"

namespace taeda::inline v0_2::models {

/// Pictures (N, channels, 28, 28) or (N, channels, 32, 32) to scores (N, num_classes). Those of 28
/// x 28 get a border, so that both have the same weights.
/// Throws Error for other sizes.
class LeNetImpl : public nn::Cloneable<LeNetImpl> {
 public:
  explicit LeNetImpl(int64_t num_classes = 10, int64_t channels = 1)
      : num_classes_(num_classes), channels_(channels) {
    LeNetImpl::reset();
  }
  void reset() override;
  /// Throws Error for pictures of other sizes.
  Tensor forward(const Tensor& images);

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};

 private:
  int64_t num_classes_, channels_;
};
TAEDA_MODULE(LeNet);

}  // namespace taeda::models

// Pictures of one size with labels, in memory: what MNIST and CIFAR have in common.
#pragma once

#include <optional>

#include "taeda/data/dataset.h"

namespace taeda::inline v0_2::vision::datasets {

struct LabelledImages {
  Tensor images;   ///< uint8, (N, channels, height, width)
  Tensor targets;  ///< the label of each image, int64, [N]

  /// Float images [B, C, H, W], values from 0 to 1, and their labels, int64 [B]. An index out of
  /// range is an IndexError.
  data::Example<> batch(ArrayRef<size_t> indices) const;
};

/// An example is a float image (channels, height, width) from 0 to 1 and its label.
/// All have one size.
template <class Self>
class LabelledImageDataset : public data::datasets::Dataset<Self> {
 public:
  enum class Mode { kTrain, kTest };

  data::Example<> get(size_t index) override {
    data::Example<> one = content_.batch(ArrayRef<size_t>(index));
    return {one.data.select(0, 0), one.target.select(0, 0)};
  }
  std::optional<size_t> size() const override {
    return static_cast<size_t>(content_.targets.size(0));
  }
  /// The examples of `indices` as one: pictures [n, channels, height, width], targets [n].
  data::Example<> get_stacked(ArrayRef<size_t> indices) { return content_.batch(indices); }

  bool is_train() const { return train_; }
  /// As in the files: uint8, (N, channels, height, width).
  const Tensor& raw_images() const { return content_.images; }
  const Tensor& targets() const { return content_.targets; }
  /// All images as floats from 0 to 1, [N, C, H, W].
  Tensor images() const { return content_.images.to(kFloat).div_(255); }

 protected:
  LabelledImageDataset(LabelledImages content, bool train)
      : content_(std::move(content)), train_(train) {}

 private:
  LabelledImages content_;
  bool train_;
};

}  // namespace taeda::vision::datasets

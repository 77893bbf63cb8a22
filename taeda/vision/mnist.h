// MNIST and Fashion-MNIST (Xiao, Rasul, Vollgraf, arXiv:1708.07747), read from their IDX files.
#pragma once

#include <string>
#include <vector>

#include "taeda/data/dataset.h"

namespace taeda::vision::datasets {

/// Grey images with labels, in memory.
struct LabelledImages {
  Tensor images;   ///< uint8, (N, 1, height, width)
  Tensor targets;  ///< int64, (N)

  /// Reads `train` or `t10k` files, plain or .gz, from `root`, `root/<name>/raw` (torchvision's
  /// place) or `root/raw`. Throws Error when one is missing, damaged, or they do not belong
  /// together.
  static LabelledImages read(const std::string& root, const std::string& name, bool train);
  /// Float images from 0 to 1 and their labels.
  data::Example<> batch(ArrayRef<size_t> indices) const;
};

/// What the two data sets share. An example is a float image (1, 28, 28) from 0 to 1 and its label.
template <class Self>
class MnistLike : public data::datasets::Dataset<Self> {
 public:
  enum class Mode { kTrain, kTest };

  data::Example<> get(size_t index) override {
    data::Example<> one = content_.batch(ArrayRef<size_t>(index));
    return {one.data.select(0, 0), one.target.select(0, 0)};
  }
  std::optional<size_t> size() const override {
    return static_cast<size_t>(content_.targets.size(0));
  }
  data::Example<> get_stacked(ArrayRef<size_t> indices) { return content_.batch(indices); }

  bool is_train() const { return train_; }
  /// As in the file: uint8, (N, 1, 28, 28).
  const Tensor& raw_images() const { return content_.images; }
  const Tensor& targets() const { return content_.targets; }
  /// All images as floats from 0 to 1.
  Tensor images() const { return content_.images.to(kFloat).div_(255); }

 protected:
  MnistLike(const std::string& root, const std::string& name, bool train)
      : content_(LabelledImages::read(root, name, train)), train_(train) {}

 private:
  LabelledImages content_;
  bool train_;
};

/// Handwritten digits.
class MNIST : public MnistLike<MNIST> {
 public:
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain)
      : MNIST(root, mode == Mode::kTrain) {}
  MNIST(const std::string& root, bool train) : MnistLike(root, "MNIST", train) {}
  static const std::vector<std::string>& classes();
};

/// Pieces of clothing.
class FashionMNIST : public MnistLike<FashionMNIST> {
 public:
  /// Where Debian's package dataset-fashion-mnist puts the files.
  static constexpr const char* kDebianRoot = "/usr/share/datasets/fashion-mnist";

  explicit FashionMNIST(const std::string& root = kDebianRoot, Mode mode = Mode::kTrain)
      : FashionMNIST(root, mode == Mode::kTrain) {}
  FashionMNIST(const std::string& root, bool train) : MnistLike(root, "FashionMNIST", train) {}
  static const std::vector<std::string>& classes();
};

}  // namespace taeda::vision::datasets

namespace taeda::data::datasets {
using vision::datasets::FashionMNIST;
using vision::datasets::MNIST;
}  // namespace taeda::data::datasets

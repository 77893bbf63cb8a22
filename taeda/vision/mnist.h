// MNIST and Fashion-MNIST (Xiao, Rasul, Vollgraf, arXiv:1708.07747), read from their IDX files.
#pragma once

#include <string>
#include <vector>

#include "taeda/vision/labelled_images.h"

namespace taeda::inline v0_2::vision::datasets {

/// Reads `train` or `t10k` files, plain or .gz, from `root`, `root/<name>/raw` (torchvision's
/// place) or `root/raw`. Throws Error when one is missing, damaged, or they do not belong together.
LabelledImages read_mnist(const std::string& root, const std::string& name, bool train);

/// What the two data sets share: grey images of 28 x 28.
template <class Self>
class MnistLike : public LabelledImageDataset<Self> {
 protected:
  MnistLike(const std::string& root, const std::string& name, bool train)
      : LabelledImageDataset<Self>(read_mnist(root, name, train), train) {}
};

/// Handwritten digits.
class MNIST : public MnistLike<MNIST> {
 public:
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain)
      : MNIST(root, mode == Mode::kTrain) {}
  MNIST(const std::string& root, bool train) : MnistLike(root, "MNIST", train) {}
  /// The names of the targets, in order.
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
  /// The names of the targets, in order.
  static const std::vector<std::string>& classes();
};

}  // namespace taeda::vision::datasets

namespace taeda::inline v0_2::data::datasets {
using vision::datasets::FashionMNIST;
using vision::datasets::MNIST;
}  // namespace taeda::data::datasets

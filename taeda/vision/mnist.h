// MNIST and Fashion-MNIST (Xiao, Rasul, Vollgraf, arXiv:1708.07747), read from their IDX files.
#pragma once

#include <string>
#include <vector>

#include "taeda/vision/labelled_images.h"

namespace taeda::inline v0_2::vision::datasets {

/// Reads `train` or `t10k` files, plain or .gz, from `root`, `root/<name>/raw` (torchvision's
/// place) or `root/raw`. Throws Error when one is missing, damaged, or they do not belong together.
LabelledImages read_mnist(const std::string& root, const std::string& name, bool train);

/// The base of MNIST and FashionMNIST: grey images, uint8 [1, 28, 28]. Throws Error where files are
/// absent or damaged.
template <class Self>
class MnistLike : public LabelledImageDataset<Self> {
 protected:
  MnistLike(const std::string& root, const std::string& name, bool train)
      : LabelledImageDataset<Self>(read_mnist(root, name, train), train) {}
};

/// 70,000 handwritten digits, grey images [1, 28, 28] in 10 classes (LeCun et al. 1998); by default
/// those for training.
class MNIST : public MnistLike<MNIST> {
 public:
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain)
      : MNIST(root, mode == Mode::kTrain) {}
  MNIST(const std::string& root, bool train) : MnistLike(root, "MNIST", train) {}
  /// The names of the targets, in order; 10 of them, the first for target 0, default of labels in
  /// reports.
  static const std::vector<std::string>& classes();
};

/// 70,000 pieces of clothing, grey images [1, 28, 28] in 10 classes (Xiao et al. 2017,
/// arXiv:1708.07747); by default those for training.
class FashionMNIST : public MnistLike<FashionMNIST> {
 public:
  /// The folder where Debian's package dataset-fashion-mnist puts the files; the default of
  /// FashionMNIST.
  static constexpr const char* kDebianRoot = "/usr/share/datasets/fashion-mnist";

  explicit FashionMNIST(const std::string& root = kDebianRoot, Mode mode = Mode::kTrain)
      : FashionMNIST(root, mode == Mode::kTrain) {}
  FashionMNIST(const std::string& root, bool train) : MnistLike(root, "FashionMNIST", train) {}
  /// The names of the targets, in order; 10 of them, the first for target 0, default of labels in
  /// reports.
  static const std::vector<std::string>& classes();
};

}  // namespace taeda::vision::datasets

namespace taeda::inline v0_2::data::datasets {
using vision::datasets::FashionMNIST;
using vision::datasets::MNIST;
}  // namespace taeda::data::datasets

// CIFAR-10 and CIFAR-100 (Krizhevsky 2009), read from their binary version
// (www.cs.toronto.edu/~kriz/cifar.html).
#pragma once

#include <string>
#include <vector>

#include "taeda/vision/labelled_images.h"

namespace taeda::inline v0_2::vision::datasets {

/// 60,000 colour images, uint8 [3, 32, 32], in 10 classes (Krizhevsky 2009). Throws Error where
/// files are absent or damaged.
class CIFAR10 : public LabelledImageDataset<CIFAR10> {
 public:
  /// Reads data_batch_1.bin to data_batch_5.bin, or test_batch.bin, from `root` or
  /// `root/cifar-10-batches-bin`. Throws Error, naming the file, when one is missing or damaged.
  explicit CIFAR10(const std::string& root, bool train = true);
  CIFAR10(const std::string& root, Mode mode) : CIFAR10(root, mode == Mode::kTrain) {}
  static const std::vector<std::string>& classes();
};

/// 60,000 colour images, uint8 [3, 32, 32], in 100 classes, which belong to 20 superclasses
/// (Krizhevsky 2009). Throws Error where files are absent or damaged.
class CIFAR100 : public LabelledImageDataset<CIFAR100> {
 public:
  /// Reads train.bin or test.bin from `root` or `root/cifar-100-binary`. Throws as CIFAR10.
  explicit CIFAR100(const std::string& root, bool train = true);
  CIFAR100(const std::string& root, Mode mode) : CIFAR100(root, mode == Mode::kTrain) {}
  /// The superclass of each image, int64, [N].
  const Tensor& coarse_targets() const { return coarse_; }
  /// From fine_label_names.txt beside the images; empty if that file is not there.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  struct Files;
  explicit CIFAR100(Files files);

  Tensor coarse_;
  std::vector<std::string> classes_;
};

}  // namespace taeda::vision::datasets

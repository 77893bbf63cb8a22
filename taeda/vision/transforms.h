// Transforms of pictures, as torchvision.transforms: tensors (C, H, W), uint8 or floating point
// from 0 to 1, on the CPU. Each is a function of a picture, and goes into a dataset's map().
//
//     auto set = CIFAR10(root).map(Compose({RandomCrop(32, {.padding = {4}}),
//                                           RandomHorizontalFlip(), Normalize({.5}, {.25})}));
//
// Random ones draw from data::worker_generator(): the seed of the loader decides, however many
// workers it has. Outside a loader a seed gives torchvision's numbers.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "taeda/data/transform.h"
#include "taeda/nn/types.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision::transforms {

/// What all of them are: also a function of an example, whose data it changes.
using PictureTransform = data::transforms::TensorTransform<Tensor>;

/// Height and width; one number stands for both.
/// In pixels, positive.
struct ImageSize {
  int64_t height, width;
  ImageSize(int64_t side) : height(side), width(side) {}
  ImageSize(int64_t h, int64_t w) : height(h), width(w) {}
};

/// Pixels around a picture: {all}, {left and right, top and bottom} or {left, top, right, bottom}.
/// Throws ValueError for other numbers of entries.
std::vector<int64_t> sides_of(const std::vector<int64_t>& padding);

/// One after the other.
class Compose : public PictureTransform {
 public:
  /// ValueError for an empty function.
  explicit Compose(std::vector<std::function<Tensor(Tensor)>> transforms);
  Tensor operator()(Tensor image) override;

 private:
  std::vector<std::function<Tensor(Tensor)>> transforms_;
};

/// uint8 from 0 to 255 becomes float from 0 to 1; floats stay as they are.
class ToTensor : public PictureTransform {
 public:
  Tensor operator()(Tensor image) override;
};

/// (image - mean) / std; one number, or one per channel.
using Normalize = data::transforms::Normalize<Tensor>;

/// How a picture gets pixels between its pixels.
enum class InterpolationMode { kNearest, kBilinear };

/// To (height, width), or so that the shorter side has `size` pixels. Bilinear interpolation takes
/// the mean over what a pixel of a smaller picture covers, unless not `antialias` (PyTorch's
/// interpolate with align_corners=False).
class Resize : public PictureTransform {
 public:
  struct Options {
    InterpolationMode interpolation = InterpolationMode::kBilinear;
    bool antialias = true;
  };
  explicit Resize(int64_t size) : Resize(size, Options{}) {}
  Resize(int64_t size, Options options);
  explicit Resize(ImageSize size) : Resize(size, Options{}) {}
  Resize(ImageSize size, Options options);
  Tensor operator()(Tensor image) override;

 private:
  std::optional<ImageSize> size_;
  int64_t shorter_ = 0;
  Options options_;
};

/// The middle; zeros are added around a picture that is smaller.
class CenterCrop : public PictureTransform {
 public:
  explicit CenterCrop(ImageSize size) : size_(size) {}
  Tensor operator()(Tensor image) override;

 private:
  ImageSize size_;
};

/// Adds pixels around. kReflect and kReplicate ("edge") continue the picture.
class Pad : public PictureTransform {
 public:
  explicit Pad(std::vector<int64_t> padding, double fill = 0, PaddingMode padding_mode = kConstant)
      : sides_(sides_of(padding)), fill_(fill), mode_(padding_mode) {}
  Tensor operator()(Tensor image) override;

 private:
  std::vector<int64_t> sides_;
  double fill_;
  PaddingMode mode_;
};

/// A piece at a random place. Throws ValueError for a picture that is smaller, unless
/// `pad_if_needed`.
class RandomCrop : public PictureTransform {
 public:
  struct Options {
    std::vector<int64_t> padding = {};  ///< as for Pad, before cropping
    bool pad_if_needed = false;
    double fill = 0;
    PaddingMode padding_mode = kConstant;
  };
  explicit RandomCrop(ImageSize size) : RandomCrop(size, Options{}) {}
  RandomCrop(ImageSize size, Options options);
  Tensor operator()(Tensor image) override;

 private:
  ImageSize size_;
  Options options_;
};

/// Mirrors left and right with probability p. Throws ValueError for a p that is none.
class RandomHorizontalFlip : public PictureTransform {
 public:
  explicit RandomHorizontalFlip(double p = 0.5);
  Tensor operator()(Tensor image) override;

 private:
  double p_;
};

/// Mirrors top and bottom with probability p. Throws ValueError for a p that is none.
class RandomVerticalFlip : public PictureTransform {
 public:
  explicit RandomVerticalFlip(double p = 0.5);
  Tensor operator()(Tensor image) override;

 private:
  double p_;
};

/// Grey by the weights of ITU-R BT.601 (0.2989, 0.587, 0.114), in 1 or 3 equal channels.
class Grayscale : public PictureTransform {
 public:
  explicit Grayscale(int64_t num_output_channels = 1);
  Tensor operator()(Tensor image) override;

 private:
  int64_t channels_;
};

/// Brightness, contrast and saturation times a factor from [1 - x, 1 + x] (not below 0), hue moved
/// by [-x, x] of the circle, in a random order. Throws ValueError for negative numbers and a hue
/// above 0.5, and for pictures of other than 1 or 3 channels.
class ColorJitter : public PictureTransform {
 public:
  explicit ColorJitter(double brightness = 0, double contrast = 0, double saturation = 0,
                       double hue = 0);
  Tensor operator()(Tensor image) override;

 private:
  double brightness_, contrast_, saturation_, hue_;
};

}  // namespace taeda::inline v0_2::vision::transforms
